"use strict";
// Search, filters, folding, theme and keys of an exported conversation. It never makes markup out of text and asks nobody for anything.
(() => {
  const root = document.documentElement;
  const one = (selector) => document.querySelector(selector);
  const all = (selector) => Array.from(document.querySelectorAll(selector));
  const main = one("main"), find = one(".find"), count = one(".count"), none = one(".none"), help = one(".help");
  const chips = all(".chip"), entries = all(".e"), branches = all(".branch"), runs = all(".run");
  root.classList.add("js");

  // What an entry says, in small letters: made once, when it is first searched for.
  const texts = new Array(entries.length);
  const text = (at) => texts[at] ??= entries[at].textContent.toLowerCase();

  let show = "all", words = [], hits = entries.map((_, at) => at), now = -1;

  const shows = (entry) => {
    const has = (name) => entry.classList.contains(name);
    switch (show) {
      case "talk": return !has("note");
      case "no-tools": return !has("note") && !has("tool") && !has("bare");
      case "user": return has("user");
      case "labelled": return has("labelled");
      default: return true;
    }
  };

  const update = () => {
    hits = [];
    const left = new Map(runs.map((run) => [run, 0]));
    entries.forEach((entry, at) => {
      const fits = shows(entry) && words.every((word) => text(at).includes(word));
      if (fits) {
        hits.push(at);
        left.set(entry.parentElement, left.get(entry.parentElement) + 1);
      }
      if (entry.classList.contains("miss") === fits) entry.classList.toggle("miss", !fits);
    });
    const narrowed = words.length > 0 || show !== "all";
    // A run that is not laid out has the height that we say: about that of what is left in it.
    for (const [run, some] of left) {
      run.classList.toggle("miss", some === 0);
      run.style.containIntrinsicSize = narrowed ? `auto ${some * 100}px` : "";
    }
    for (const branch of branches) {
      const fits = branch.querySelector(".e:not(.miss)") !== null;
      branch.hidden = narrowed && !fits;
      if (words.length > 0 && fits) branch.open = true;
    }
    now = -1;
    mark(null);
    none.hidden = hits.length > 0 || entries.length === 0;
    say();
  };
  const say = () => {
    const narrowed = words.length > 0 || show !== "all";
    count.textContent = !narrowed ? "" : now < 0 ? `${hits.length} of ${entries.length}` : `${now + 1} of ${hits.length}`;
  };

  // Matches are coloured without touching the page, and only where somebody looks.
  const paints = typeof Highlight === "function" && CSS.highlights;
  const found = paints ? new Highlight() : null, current = paints ? new Highlight() : null;
  if (paints) { CSS.highlights.set("found", found); CSS.highlights.set("now", current); }
  const seen = new Set();
  let painted = new Set();

  const ranges = (entry, most) => {
    const result = [], walker = document.createTreeWalker(entry, NodeFilter.SHOW_TEXT);
    while (walker.nextNode() && result.length < most) {
      const node = walker.currentNode, value = node.data.toLowerCase();
      if (value.length !== node.data.length) continue;
      for (const word of words) {
        for (let at = value.indexOf(word); at >= 0 && result.length < most; at = value.indexOf(word, at + word.length)) {
          const range = document.createRange();
          range.setStart(node, at);
          range.setEnd(node, at + word.length);
          result.push(range);
        }
      }
    }
    return result;
  };

  const paint = (entry) => {
    if (!paints || painted.has(entry) || words.length === 0 || entry.classList.contains("miss")) return;
    painted.add(entry);
    for (const range of ranges(entry, 200)) found.add(range);
  };

  const paintRun = (run) => Array.from(run.children).forEach(paint);

  const mark = (range) => {
    if (!paints) return;
    current.clear();
    if (range) current.add(range);
    else { found.clear(); painted = new Set(); seen.forEach(paintRun); }
  };

  const look = new IntersectionObserver((changes) => {
    for (const change of changes) {
      if (change.isIntersecting) { seen.add(change.target); paintRun(change.target); }
      else seen.delete(change.target);
    }
  });
  runs.forEach((run) => look.observe(run));

  const unfold = (node) => {
    for (let fold = node.parentElement.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  };

  const jump = (step) => {
    // Without a search it goes from one prompt to the next.
    const stops = words.length > 0 || show !== "all" ? hits : hits.filter((at) => entries[at].classList.contains("user"));
    if (stops.length === 0) return;
    all(".now").forEach((entry) => entry.classList.remove("now"));
    now = now < 0 ? (step > 0 ? 0 : stops.length - 1) : (now + step + stops.length) % stops.length;
    const entry = entries[stops[now]];
    entry.classList.add("now");
    unfold(entry);
    const [range] = words.length > 0 ? ranges(entry, 1) : [];
    if (range) { unfold(range.startContainer); mark(range); }
    paint(entry);
    (range ? range.startContainer.parentElement : entry).scrollIntoView({ block: "center", behavior: "instant" });
    say();
  };

  let due = 0;
  const search = () => {
    due = 0;
    const next = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    if (next.join(" ") === words.join(" ")) return;
    words = next;
    all(".now").forEach((entry) => entry.classList.remove("now"));
    update();
  };
  find.addEventListener("input", () => { due ||= requestAnimationFrame(search); });
  find.addEventListener("keydown", (event) => {
    if (event.key === "Enter") { search(); jump(event.shiftKey ? -1 : 1); event.preventDefault(); }
    if (event.key === "Escape") {
      if (find.value === "") find.blur(); else { find.value = ""; search(); }
      event.preventDefault();
    }
  });

  const choose = (name) => {
    show = name;
    main.dataset.show = name;
    chips.forEach((chip) => chip.setAttribute("aria-pressed", String(chip.dataset.show === name)));
    update();
  };
  chips.forEach((chip) => chip.addEventListener("click", () => choose(chip.dataset.show)));

  const themes = ["auto", "light", "dark"];
  const theme = one(".theme");
  const name = () => { theme.textContent = `theme: ${root.dataset.theme}`; };
  const dress = () => { root.dataset.theme = themes[(themes.indexOf(root.dataset.theme) + 1) % themes.length]; name(); };
  theme.addEventListener("click", dress);
  name();

  const fold = one(".fold");
  let unfolded = false;
  const foldAll = () => {
    unfolded = !unfolded;
    all("main details").forEach((details) => { details.open = unfolded; });
    fold.textContent = unfolded ? "fold" : "unfold";
  };
  fold.addEventListener("click", foldAll);

  one(".keys").addEventListener("click", () => help.showModal());
  one(".close").addEventListener("click", () => help.close());

  const copy = async (button) => {
    const code = button.parentElement.querySelector("code");
    try {
      await navigator.clipboard.writeText(code.textContent);
    } catch {
      const range = document.createRange();
      range.selectNodeContents(code);
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      if (!document.execCommand("copy")) return;
    }
    button.classList.add("done");
    setTimeout(() => button.classList.remove("done"), 1500);
  };
  document.addEventListener("click", (event) => {
    if (event.target.classList.contains("copy")) copy(event.target);
    // An entry in a folded branch cannot be gone to before the branch is open.
    const link = event.target.closest('a[href^="#e"]');
    const target = link && document.getElementById(link.getAttribute("href").slice(1));
    if (target) { target.classList.remove("miss"); target.parentElement.classList.remove("miss"); unfold(target); }
  });

  const keys = {
    "/": () => { find.focus(); find.select(); },
    n: () => jump(1),
    p: () => jump(-1),
    f: () => choose(chips[(chips.findIndex((chip) => chip.dataset.show === show) + 1) % chips.length].dataset.show),
    e: foldAll,
    t: dress,
    "?": () => help.showModal(),
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target === find || help.open) return;
    if (!Object.hasOwn(keys, event.key)) return;
    keys[event.key]();
    event.preventDefault();
  });

  if (innerWidth <= 900) one(".outline").open = false;
  const arrive = () => { const target = document.getElementById(location.hash.slice(1)); if (target) unfold(target); };
  addEventListener("hashchange", arrive);
  arrive();
  addEventListener("beforeprint", () => all("details").forEach((details) => { details.open = true; }));
})();
