const NAME_WIDTH = 28;

/** Runs one phase of `npm start`, and prints how long it took. */
export const phase = async (say, { name, hint = "" }, work) => {
  say(`  ${name} …${hint && ` (${hint})`}`);
  const begin = performance.now();
  const result = await work();
  say(`  ✓ ${name.padEnd(NAME_WIDTH)} ${((performance.now() - begin) / 1000).toFixed(1)} s`);
  return result;
};
