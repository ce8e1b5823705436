/* Entries with the most words of a question, those first that have them in their title. */
window.onnxpadFinding = (entries) => {
  const LITTLE = new Set(`a about an and any are can compute could do does for from get give goes got handle has have how i
    in into is it its make me model my network no not of on onnx operator or runtime runtimes should so some support take
    that the their there this to use us want was we what when where which while who why will with work would`.split(/\s+/));
  const MEANT = { deconv: "convtranspose", deconvolution: "convtranspose", circular: "wrap", periodic: "wrap",
    replicate: "edge", mirror: "reflect", avg: "average", avgpool: "averagepool", uneven: "asymmetric",
    unsupported: "refused", convolution: "conv", grouped: "groups" };
  const plain = (text) => text.toLowerCase().replace(/[^a-z0-9]+/g, "");
  /* pools, pooling and pooled are a pool; dilated and dilations are one as well. */
  const stem = (word) => {
    const bare = word.replace(/(2d)$/, "").replace(/(ings?|ed|ions?|s|e)$/, "").replace(/([dgnpt])\1$/, "$1");
    return bare.length > 2 ? bare : word;
  };
  const known = entries.map(([title, kind, , said, more]) => [plain(title), plain(`${kind} ${said}`), plain(more)]);

  return (text) => {
    const words = text.toLowerCase().split(/[\s,?]+/).map((word) => MEANT[word] || word)
      .filter((word) => plain(word) && !LITTLE.has(word)).map((word) => stem(plain(word)));
    const pairs = words.slice(1).map((word, place) => words[place] + word);
    const scores = known.map(([title, head, more]) => {
      let score = words.join("") === stem(title) ? 9 : 0;
      for (const word of [...words, ...pairs]) {
        score += title.startsWith(word) ? 3.2 : title.includes(word) ? 3 : head.includes(word) ? 1.5 : more.includes(word) ? 1 : 0;
      }
      return score && score - title.length / 100;
    });
    const enough = 0.6 * Math.max(0, ...scores);
    return [...scores.keys()].filter((number) => scores[number] > enough)
      .sort((one, other) => scores[other] - scores[one] || one - other);
  };
};

(() => {
  const MOST = 12;
  const entries = window.onnxpadIndex || [];
  const find = window.onnxpadFinding(entries);
  const finder = document.getElementById("finder");
  const field = document.getElementById("find");
  const list = document.getElementById("found");
  const count = document.getElementById("found-count");
  const root = document.body.dataset.root;

  function item([title, kind, address, said]) {
    const line = document.createElement("li");
    const link = document.createElement("a");
    const label = document.createElement("span");
    const words = document.createElement("span");
    link.href = root + address;
    link.textContent = title;
    label.className = `kind cell ${kind.toLowerCase().replace(/ /g, "-")}`;
    label.textContent = kind;
    words.className = "said";
    words.textContent = said;
    line.append(link, label, words);
    return line;
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
    const hits = find(field.value);
    list.replaceChildren(...hits.slice(0, MOST).map((number) => item(entries[number])));
    if (hits.length > MOST) list.append(more(hits.slice(MOST)));
    count.textContent = field.value ? `${hits.length} found` : "";
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
