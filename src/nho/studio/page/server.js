// Requests to the studio and the events it sends. Every address is below the page's own.
"use strict";

const NO_ANSWER = "The studio does not answer. Is `nho studio` still running?";
const ENDED = "The studio has stopped. Open the address that `nho studio` prints when it is started again.";

const randomDigits = () => [...crypto.getRandomValues(new Uint8Array(8))]
  .map((byte) => byte.toString(16).padStart(2, "0")).join("");

const server = {
  async ask(path, about) {
    let response;
    try {
      response = await fetch(path, about);
    } catch {
      throw new Error(NO_ANSWER); // every browser has other words for it
    }
    if (response.ok) return response;
    let reason = `the studio answered ${response.status}`;
    try {
      reason = (await response.json()).error;
    } catch { /* not ours; the status has to do */ }
    throw new Error(reason);
  },

  async json(path) {
    return (await server.ask(path)).json();
  },

  async numbers(path, Kind) {
    return new Kind(await (await server.ask(path)).arrayBuffer());
  },

  async post(path, about = {}) {
    const body = JSON.stringify(about);
    return (await server.ask(path, { method: "POST", body })).json();
  },

  // `beside` are files that belong to it; `side` is where it goes, if that is known.
  async upload(file, side, beside = []) {
    const drop = beside.length ? { drop: randomDigits() } : {};
    for (const [number, one] of [...beside, file].entries()) {
      const query = new URLSearchParams({ name: one.name, ...drop });
      if (side) query.set("side", side);
      const last = number === beside.length;
      if (!last) query.set("more", "yes");
      const answer = await server.ask(`upload?${query}`, { method: "POST", body: one });
      if (last) return answer.json();
    }
  },

  // The browser reconnects by itself; `again` is called whenever the connection stands. A hidden
  // page closes it: browsers allow a server six, and one more tab would wait for ever.
  listen(event, again, lost) {
    let source = null;
    const follow = () => {
      if (source) source.close();
      source = null;
      if (document.hidden) return;
      source = new EventSource("events");
      source.onmessage = (message) => event(JSON.parse(message.data));
      source.onopen = again;
      source.onerror = ({ target }) => {
        if (target === source) lost(new Error(target.readyState === EventSource.CLOSED ? ENDED : NO_ANSWER));
      };
    };
    document.addEventListener("visibilitychange", follow);
    follow();
  },
};
