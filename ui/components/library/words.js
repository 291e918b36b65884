// Numbers in words, as the library's parts show them.

export function size(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1048576) return `${Math.round(bytes / 1024)} KB`;
  return bytes < 1073741824 ? `${(bytes / 1048576).toFixed(1)} MB` : `${(bytes / 1073741824).toFixed(2)} GB`;
}

export function ordinal(n) {
  const last = n % 100 >= 11 && n % 100 <= 13 ? "th" : { 1: "st", 2: "nd", 3: "rd" }[n % 10] ?? "th";
  return `${n.toLocaleString("en")}${last}`;
}

export const duration = (seconds) => (seconds < 90 ? `${seconds} s` : `${Math.round(seconds / 60)} min`);

// The folders that documents lie in and those above them, each with how many lie in it or below it.
export function folders(documents) {
  const found = new Map();
  for (const { folder } of documents) {
    const names = folder ? folder.split("/") : [];
    for (let i = 1; i <= names.length; i++) {
      const path = names.slice(0, i).join("/");
      found.set(path, (found.get(path) ?? 0) + 1);
    }
  }
  return [...found].sort(([a], [b]) => a.localeCompare(b));
}

export function tags(documents) {
  const found = new Map();
  for (const item of documents) for (const tag of item.tags) found.set(tag, (found.get(tag) ?? 0) + 1);
  return [...found].sort(([a], [b]) => a.localeCompare(b));
}

export const within = (item, folder) => item.folder === folder || item.folder.startsWith(`${folder}/`);
