// A file's bytes in base64, as the routes take them.
export async function base64(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = "";
  for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(text);
}

export const holdsFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
