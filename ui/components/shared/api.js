// The app's own routes. The addresses and the token come with every mount; they are one for the whole page: `base` is
// that of the library, `root` that of what is a person's own.

const at = { base: "", root: "", library: "", token: "", widths: [], person: "" };
const OWN = ["/account", "/libraries"];

export function configure({ base, root, library, token, widths, person }) {
  Object.assign(at, { base, root, library, token, widths, person });
}

// Who is signed in; "" where nobody signs in.
export const who = () => at.person;

const routed = (path) => `${OWN.some((own) => path.startsWith(own)) ? at.root : at.base}${path}`;

export function url(path, query = {}) {
  return `${routed(path)}?${new URLSearchParams(query)}`;
}

// The query of a page's address, which names the library where there are several.
export function inLibrary(query = {}) {
  const named = new URLSearchParams({ ...(at.library && { l: at.library }), ...query });
  return named.size ? `?${named}` : "";
}

// The address of one of the app's pages.
export const pageUrl = (path, query) => `${at.root.replace(/\/gw$/, "")}/${path}${inLibrary(query)}`;

export class ApiError extends Error {
  constructor(status, { message, hint, code }) {
    super(message);
    Object.assign(this, { status, hint, code });
  }
}

const isJson = (response) => response.headers.get("content-type")?.includes("json");

async function read(response) {
  const json = isJson(response);
  if (response.ok && json) return present(await response.json());
  if (response.status === 401) location.reload(); // to sign in
  let error = { message: "Groundwork gave an unexpected reply.", hint: "Reload the page.", code: "server" };
  if (json) error = (await response.json()).error;
  throw new ApiError(response.status, error);
}

export const removedError = () => new ApiError(200, { message: "This document was removed from the library.", hint: "", code: "removed" });

// What a page on screen asks for may have been removed in another window meanwhile.
function present(found) {
  if (found.removed === true) throw removedError();
  return found;
}

async function reach(path, options) {
  try {
    return await fetch(path, options);
  } catch {
    throw new ApiError(0, { message: "Groundwork can’t be reached.", hint: "Check that it is still running.", code: "offline" });
  }
}

const call = async (path, options) => read(await reach(path, options));

export const get = (path, query = {}) => call(url(path, query));

export const post = (path, body = {}) =>
  call(routed(path), {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Groundwork-Token": at.token },
    body: JSON.stringify(body),
  });

// The answer to a call, or {}; of one that fails, its error as what was `refused`.
export async function answered(call) {
  try {
    return (await call()) ?? {};
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { refused: error };
  }
}

// What is no JSON: a picture, a file. What goes wrong is thrown, though it may come as JSON that says so.
export async function getFile(address) {
  const response = await reach(address);
  if (!response.ok || isJson(response)) await read(response.clone()); // the file itself may be JSON, as a template is
  return response;
}

// A download, under the name that the server gives it. What goes wrong is not saved.
export async function save(path, name, query = {}) {
  const response = await getFile(url(path, query));
  const given = response.headers.get("content-disposition") ?? "";
  const coded = given.match(/filename\*=(?:utf-8|UTF-8)''([^;]+)/)?.[1];
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await response.blob());
  link.download = coded ? decodeURIComponent(coded) : given.match(/filename="?([^";]+)/)?.[1] ?? name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

// Documents do not change once they are read, so that each is fetched once.
const documents = new Map();

// While a document is read it grows: one that is known with fewer than `least` pages is asked for anew.
export async function getDocument(id, least = 0) {
  const known = documents.get(id);
  if (known && (await known).pages.length < least && documents.get(id) === known) documents.delete(id);
  if (!documents.has(id)) {
    const asked = get(`/documents/${id}`);
    documents.set(id, asked);
    asked.catch(() => documents.delete(id));
  }
  return documents.get(id);
}

export const forgetDocument = (id) => documents.delete(id);

export function pictureUrl(id, page, cssWidth) {
  const wanted = cssWidth * devicePixelRatio;
  const width = at.widths.find((w) => w >= wanted * 0.98) ?? at.widths.at(-1);
  return url(`/documents/${id}/pages/${page}.png`, { w: width });
}
