import { createHash } from "node:crypto";

const rankOf = (name: string, seed: string): string => createHash("sha256").update(`${seed} ${name}`).digest("hex");

/** A third of the names, chosen by the seed of this run of `npm test`, in their order; all of them without a seed, as in `npm run test:long`. */
export const sampled = (names: readonly string[]): string[] => {
  const seed = process.env.SAMPLE_SEED;
  if (seed === undefined) return [...names];
  const chosen = [...names]
    .sort((one, other) => (rankOf(one, seed) < rankOf(other, seed) ? -1 : 1))
    .slice(0, Math.ceil(names.length / 3));
  return names.filter((name) => chosen.includes(name));
};
