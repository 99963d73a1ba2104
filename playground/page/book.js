// Links each program of `examples/` that a page of the book names to the playground. What comes before this text says
// which there are.

for (const code of document.querySelectorAll('main code')) {
  const isBlock = code.parentElement.tagName === 'PRE';
  const names = new Set([...code.textContent.matchAll(/\bexamples\/([\w/-]+\.\w+)/g)].map(([, name]) => name).filter((name) => examplesOfPlayground.includes(name)));
  const links = [...names].map((name) => {
    const link = document.createElement('a');
    link.href = `${typeof path_to_root === 'string' ? path_to_root : ''}try.html#example=${name}`;
    link.textContent = isBlock ? `open ${name} in the playground` : '▶';
    link.title = `Open ${name} in the playground`;
    return link;
  });
  // After a block the links are a line of their own.
  const place = isBlock ? code.parentElement : code;
  if (isBlock && links.length > 0) {
    const line = document.createElement('p');
    line.append(...links.flatMap((link, at) => (at > 0 ? [' · ', link] : [link])));
    place.after(line);
  } else {
    place.after(...links.flatMap((link) => [' ', link]));
  }
}
