{{/* Name of an object of this release: "groundwork" alone, or with its part. */}}
{{- define "name" -}}
{{- $release := .root.Release.Name | trunc 50 | trimSuffix "-" -}}
{{- if .part }}{{ $release }}-{{ .part }}{{ else }}{{ $release }}{{ end -}}
{{- end }}

{{- define "labels" -}}
app.kubernetes.io/name: groundwork
app.kubernetes.io/instance: {{ .root.Release.Name }}
{{- if .part }}
app.kubernetes.io/component: {{ .part }}
{{- end }}
{{- end }}

{{/* Pod of a part, which keeps nothing. */}}
{{- define "pod" -}}
metadata:
  labels: {{- include "labels" . | nindent 4 }}
  annotations:
    groundwork/settings: {{ include (print .root.Template.BasePath "/settings.yaml") .root | sha256sum }} # a change makes new pods
spec:
  automountServiceAccountToken: false
  securityContext: { runAsNonRoot: true, runAsUser: 10001, fsGroup: 10001, seccompProfile: { type: RuntimeDefault } }
  {{- with .root.Values.imagePullSecrets }}
  imagePullSecrets:
    {{- range . }}
    - name: {{ . }}
    {{- end }}
  {{- end }}
  terminationGracePeriodSeconds: 60
  containers:
    - name: groundwork
      image: {{ .root.Values.image }}
      envFrom:
        - configMapRef: { name: {{ include "name" (dict "root" .root) }} }
        - secretRef: { name: {{ .root.Values.secret }} }
      {{- .own | nindent 6 }}
      resources: {{- toYaml .resources | nindent 8 }}
      securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: [ALL] } }
      volumeMounts:
        - { name: library, mountPath: /library }
  volumes:
    - name: library # copies of the files that were used last
      emptyDir: { sizeLimit: {{ .root.Values.disk }} }
{{- end }}
