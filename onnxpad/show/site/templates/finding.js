/* What is meant by the words of a search, and the entries that answer it, the best first. */
window.onnxpadFinding = ({ entries, names, words: meant }) => {
  const SAID = 0.5, MORE = 0.25, PART = 0.8, BEGUN = 0.7, FAMILY = 0.6, ENOUGH = 0.6, VERDICT = 0.4, SPECIAL = 0.2, SPARE = 0.03, ITSELF = 1.5, LONGEST = 4, SUBJECT = 3.5, MOST = 4;
  const NOTHING = new Set(`a about accept all allow an and any are as at be before by can compute could do for
    did does from get give goes got good handle has have how i if in into is it its just last make me model more my need network
    no node not of on onnx operator or other our padded run runtime should so some support take tell that
    the their them there they this to use us want was we what when where which while who why will with
    work would you your 2d 2-d`.split(/\s+/).map(stem));
  const FIRST = { table: 0.2, "way of padding": 0.2, fact: -0.1, release: -0.2 };
  const WORD = /[0-9]-D\b|[A-Za-z0-9]+(?:_[A-Za-z0-9]+)*(?:\.[0-9]+)*/gi;
  const VERDICTS = new Set(["right", "wrong", "refused", "unknown"].map(stem));
  const stems = new Map();
  const shown = new Map();
  let postings = null;

  /* pools, pooling and pooled are a pool; dilated and dilations are one as well. */
  function stem(word) {
    if (word.length < 4 || /\d/.test(word)) return word;
    let found = word.replace(/ies$/, "y").replace(/([^suai])s$/, "$1");
    const bare = found.replace(/(ing|ed|ion|al)$/, "");
    if (bare.length > 2 && bare !== found && /[aeiouy]/.test(bare)) found = bare.replace(/([bdgmnprt])\1$/, "$1");
    return found.length > 3 ? found.replace(/e$/, "") : found;
  }

  function stemmed(word) {
    if (!stems.has(word)) {
      stems.set(word, stem(word));
      if (!shown.has(stem(word))) shown.set(stem(word), word);
    }
    return stems.get(word);
  }

  const letters = (text) => text.toLowerCase().replace(/[^a-z0-9]+/g, "");

  /* Words as they stand; of auto_pad and MaxPool the parts too, which count less. */
  function tokens(text) {
    const found = new Map();
    for (const [word] of text.matchAll(WORD)) {
      const whole = word.includes(".") ? word : stemmed(letters(word));
      found.set(whole, 1);
      for (const part of word.split(/_|(?<=[a-z])(?=[A-Z])/)) {
        const one = stemmed(part.toLowerCase());
        if (one !== whole && !found.has(one)) found.set(one, PART);
      }
    }
    return found;
  }

  function index() {
    if (postings) return postings;
    postings = new Map();
    const called = new Map(entries.filter(([, kind]) => kind === "target")
      .map(([title, , , said]) => [title, tokens(said.split(";")[0])]));
    entries.forEach(([title, kind, , said, subject, more], number) => {
      const own = [tokens(`${title} ${kind}`), 1], known = [called.get(subject) || [], MORE];
      for (const [found, weight] of [own, [tokens(said), SAID], [tokens(more), MORE], known]) {
        for (const [token, share] of found) {
          if (!postings.has(token)) postings.set(token, new Map());
          const having = postings.get(token);
          having.set(number, Math.max(having.get(number) || 0, weight * share));
        }
      }
    });
    return postings;
  }

  const phrases = new Map(Object.entries(meant).map(([said, means]) =>
    [said.split(" ").map(stemmed).join(" "), means.split(" ")]));

  /* A text cut into runs of words: `means` says what a run is, the longest that is something counts. */
  function runs(words, means) {
    const found = [];
    for (let place = 0; place < words.length;) {
      let many = Math.min(LONGEST, words.length - place), what = null;
      while (many > 0 && !(what = means(words.slice(place, place + many)))) many -= 1;
      found.push(...(what || [words[place]]));
      place += Math.max(many, 1);
    }
    return found;
  }

  /* The subjects and the words of a search, in the words of these pages. */
  function read(text) {
    const typed = [...text.matchAll(WORD)].map(([one]) => one.toLowerCase().replace(/(?<=[a-z]{2})[-_]?2d$/, ""));
    const subjects = new Map();
    const joined = (run) => run.map(letters).join("");
    const said = runs(typed, (run) => {
      const known = Object.hasOwn(names, joined(run)) && !NOTHING.has(stemmed(joined(run)));
      const name = known ? names[joined(run)] : "";
      if (name) subjects.set(name, joined(run));
      return name ? [] : phrases.get(run.map(stemmed).join(" "));
    });
    const words = runs(said, (run) => run.length > 1
      && !run.some((word) => /^\d+$/.test(word)) && index().has(stemmed(joined(run))) && [joined(run)]);
    const telling = words.filter((word) => !NOTHING.has(stemmed(word)));
    return [subjects, telling.length || subjects.size ? telling : words];
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

  function nearest(word) {
    let best = "", least = word.length < 8 ? 2 : 3;
    for (const one of index().keys()) {
      if (one.length < 4 || Math.abs(one.length - word.length) >= least) continue;
      const far = distance(word, one);
      if (far < least) [best, least] = [one, far];
    }
    return best;
  }

  /* Entries with a word, by how much it counts there; what was read where it is spelled otherwise. */
  function having(word) {
    const whole = word.includes(".") ? word : stemmed(letters(word));
    const found = new Map(index().get(whole));
    const add = (token, share) => {
      for (const [number, weight] of index().get(token)) {
        found.set(number, Math.max(found.get(number) || 0, weight * share));
      }
    };
    if (whole.length > (found.size ? 4 : 2)) {
      for (const token of index().keys()) if (token !== whole && token.startsWith(whole)) add(token, BEGUN);
    }
    if (found.size || word.length < 4) return [found, ""];
    const near = nearest(whole);
    if (near) add(near, 1);
    return [found, near && shown.get(near) ? shown.get(near) : near];
  }

  /* Entries about a runtime or framework, its relatives, and what has no subject and mentions it. */
  function about(subject, called) {
    const found = new Map();
    const mentions = new Map([...(index().get(called) || []), ...(index().get(letters(subject)) || [])]);
    entries.forEach(([, , , , its], number) => {
      if (its === subject) found.set(number, 1);
      else if (its.split(/[-2]/).includes(subject)) found.set(number, FAMILY);
      else if (!its && mentions.has(number)) found.set(number, Math.min(FAMILY, mentions.get(number)));
    });
    return found;
  }

  const spare = (title) => [...tokens(title).keys()].filter((one) => !NOTHING.has(one)).length;

  /* The numbers of the entries, how many of the words the first has, and what was read otherwise. */
  function find(text) {
    const [subjects, words] = read(text);
    const scores = new Map(), kept = new Map(), notes = [];
    const rarity = (found) => Math.min(MOST, Math.log(1 + entries.length / Math.max(1, found.size)));
    const count = (found, weight) => {
      for (const [number, share] of found) {
        scores.set(number, (scores.get(number) || 0) + weight * share);
        kept.set(number, (kept.get(number) || 0) + 1);
      }
    };
    subjects.forEach((called, one) => count(about(one, called), SUBJECT));
    const some = words.some((word) => !VERDICTS.has(stemmed(word)));
    for (const word of words) {
      const [found, near] = having(word);
      if (near && near !== word) notes.push(`read as "${near}"`);
      count(found, rarity(found) * (some && VERDICTS.has(stemmed(word)) ? VERDICT : 1));
    }
    const asked = letters(text), plain = !/\d/.test(text);
    const rank = (number) => {
      const [title, kind] = entries[number], itself = subjects.has(title);
      const same = letters(title) === asked || (!words.length && itself);
      const special = plain && /\d/.test(title) ? SPECIAL : 0;
      const first = itself ? ITSELF : FIRST[kind] ?? 0.1;
      return scores.get(number) + (same ? 9 : 0) + first - special - SPARE * spare(title);
    };
    const ranks = new Map([...scores.keys()].map((number) => [number, rank(number)]));
    const hits = [...ranks.keys()].sort((one, other) => ranks.get(other) - ranks.get(one) || one - other);
    const best = hits.reduce((one, other) => (scores.get(other) > scores.get(one) ? other : one), hits[0]);
    const enough = hits.filter((number) =>
      scores.get(number) >= ENOUGH * scores.get(best) && kept.get(number) >= kept.get(best));
    const most = enough.length ? kept.get(best) : 0;
    return { hits: enough, most, all: subjects.size + words.length, notes };
  }

  return find;
};
