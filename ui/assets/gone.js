// When the server does not answer, Streamlit says so in a dialog of its own, to the person who wrote the program. What
// it says there is hidden (gone.css) and our words stand beside it; its nodes stay as they are, and when the server
// answers again it takes the dialog away, and ours with it.

const TITLE = "Connection error"; // Streamlit's

const words = `<h2 id="gw-gone-title">Groundwork does not answer</h2>
  <p>It was stopped, or this computer cannot reach it at the moment. If it was stopped, start it again.</p>
  <p>This page goes on by itself as soon as it answers. What you typed stays where it is.</p>
  <p class="gw-gone-trying" role="status"><span class="gw-spin"></span><span>Trying to reach it</span></p>`;

// A session that has ended closes the connection too: the server answers, and leads to the page for signing in.
async function ended() {
  const answer = await fetch(location.href, { redirect: "manual", headers: { Accept: "text/html" } }).catch(() => null);
  if (answer?.type === "opaqueredirect") location.reload();
}

function look() {
  for (const dialog of document.querySelectorAll("[role=dialog]:not(:has(> .gw-gone))")) {
    if (dialog.querySelector(":scope > h2")?.textContent !== TITLE) continue;
    const ours = document.createElement("div");
    ours.className = "gw-gone";
    ours.innerHTML = words;
    ours.style.colorScheme = getComputedStyle(document.querySelector(".stApp")).colorScheme; // it stands outside of that
    dialog.append(ours);
    ended();
    dialog.setAttribute("aria-labelledby", "gw-gone-title");
  }
}

new MutationObserver(look).observe(document.documentElement, { childList: true, subtree: true });
