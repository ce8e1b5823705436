(() => {
  const MOST = 12;
  const entries = window.onnxpadEntries || [];
  const finder = document.getElementById("finder");
  const field = document.getElementById("find");
  const list = document.getElementById("found");
  const count = document.getElementById("found-count");
  const root = document.body.dataset.root;
  const texts = entries.map((entry) => entry.join(" ").toLowerCase());
  const titles = entries.map((entry) => entry[0].toLowerCase());
  let known = null;

  /* "pools" finds what is called a pool, and "asymetric" what is asymmetric. */
  function singular(word) {
    if (word.length < 4 || word.endsWith("ss")) return word;
    return word.replace(/ies$/, "y").replace(/s$/, "");
  }

  function isIn(word, text) {
    return text.includes(word) || text.includes(singular(word));
  }

  function distance(one, other) {
    let row = [...Array(other.length + 1).keys()];
    for (let i = 1; i <= one.length; i++) {
      const next = [i];
      for (let j = 1; j <= other.length; j++) {
        const change = row[j - 1] + (one[i - 1] === other[j - 1] ? 0 : 1);
        next.push(Math.min(change, row[j] + 1, next[j - 1] + 1));
      }
      row = next;
    }
    return row[other.length];
  }

  function corrected(word) {
    if (word.length < 4 || texts.some((text) => isIn(word, text))) return word;
    known = known || [...new Set(texts.join(" ").split(/[^a-z0-9]+/))].filter((one) => one.length > 3);
    let best = word, least = word.length < 8 ? 2 : 3;
    for (const one of known) {
      if (Math.abs(one.length - word.length) >= least) continue;
      const far = distance(singular(word), singular(one));
      if (far < least) [best, least] = [one, far];
    }
    return best;
  }

  function matching(words) {
    const scores = texts.map((text) => words.filter((word) => isIn(word, text)).length);
    const most = Math.max(0, ...scores);
    const hits = scores.map((_, number) => number).filter((number) => most > 0 && scores[number] === most);
    const rank = (number) => {
      if (titles[number] === words.join(" ")) return -1;
      return words.filter((word) => !isIn(word, titles[number])).length;
    };
    const ranks = new Map(hits.map((number) => [number, rank(number)]));
    hits.sort((one, other) => ranks.get(one) - ranks.get(other) || one - other);
    return [hits, most];
  }

  function item([title, kind, address]) {
    const line = document.createElement("li");
    const link = document.createElement("a");
    const said = document.createElement("span");
    link.href = root + address;
    link.textContent = title;
    said.className = "kind";
    said.textContent = kind;
    line.append(link, said);
    return line;
  }

  /* How people call operators, in the words of ONNX. */
  const NAMES = [
    [/\b(de-?|transposed? )conv(olution(al)?)?s?\b/g, "convtranspose"],
    [/\bconvolution(al)?s?\b/g, "conv"],
    [/\bmax[- ]pool(ing)?s?\b|\bmaxpooling\b/g, "maxpool"],
    [/\b(avg|average|mean)[- ]?pool(ing)?s?\b/g, "averagepool"],
    [/\b(lp|l2)[- ]?pool(ing)?s?\b/g, "lppool"],
    [/\bpooling\b/g, "pool"],
  ];

  function inWordsOfOnnx(text) {
    return NAMES.reduce((said, [pattern, name]) => said.replace(pattern, name), text);
  }

  function more(hits) {
    const line = document.createElement("li");
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = `show ${hits.length} more`;
    button.addEventListener("click", () => {
      line.replaceWith(...hits.map((number) => item(entries[number])));
      list.children[MOST].querySelector("a").focus();
    });
    line.append(button);
    return line;
  }

  function search() {
    const typed = inWordsOfOnnx(field.value.toLowerCase()).split(/[\s,;:]+/).filter(Boolean);
    const words = typed.map(corrected);
    const [hits, most] = typed.length ? matching(words) : [[], 0];
    list.replaceChildren(...hits.slice(0, MOST).map((number) => item(entries[number])));
    if (hits.length > MOST) list.append(more(hits.slice(MOST)));
    const notes = words.filter((word, place) => word !== typed[place]).map((word) => `read as "${word}"`);
    if (hits.length && most < words.length) notes.push(`with ${most} of ${words.length} words`);
    if (hits.length > MOST) notes.push(`the first ${MOST} are shown`);
    count.textContent = typed.length ? [`${hits.length} found`, ...notes].join(", ") : "";
  }

  function move(event) {
    const links = [...list.querySelectorAll("a")];
    const place = links.indexOf(document.activeElement);
    if (event.key === "Escape") { field.value = ""; search(); field.focus(); }
    if (event.key === "Enter" && place < 0 && links.length) links[0].click();
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || !links.length) return;
    event.preventDefault();
    (place + step < 0 ? field : links[Math.min(place + step, links.length - 1)]).focus();
  }

  finder.hidden = false;
  field.addEventListener("input", search);
  finder.addEventListener("keydown", move);
  search();
})();
