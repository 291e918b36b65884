// Times in words: when something was made, and how long it will take.

const DAY = 86_400_000;

export function when(seconds) {
  const day = (time) => Math.floor((time - new Date().getTimezoneOffset() * 60_000) / DAY);
  const ago = day(Date.now()) - day(seconds * 1000);
  return ["Today", "Yesterday"][ago] ?? new Date(seconds * 1000).toLocaleDateString("en", { day: "numeric", month: "short" });
}

export function timeLeft(seconds) {
  if (seconds < 90) return `about ${Math.max(5, Math.ceil(seconds / 5) * 5)} s left`;
  return `about ${Math.round(seconds / 60)} min left`;
}
