import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ChainConfig, chainsFile } from "@/lib/platform/config/chains";
import { afterFile } from "./after-file";

/** A copy of the local chains' configuration with changes, for `CHAINS_FILE`. */
export const changedChainsFile = (change: (chain: ChainConfig) => void): string => {
  const folder = mkdtempSync(join(tmpdir(), "causeway-chains-"));
  afterFile(() => rmSync(folder, { recursive: true, force: true }));
  const { chains } = chainsFile.parse(
    JSON.parse(readFileSync("lib/platform/config/chains/local.json", "utf8")),
  );
  chains.forEach(change);
  const file = join(folder, "chains.json");
  writeFileSync(file, JSON.stringify({ chains }));
  return file;
};

/** Number that `renumberedChainsFile` adds to the id of each local chain. */
const RENUMBERED = 100_000;

/** The local chains under other ids, because production refuses the ids of local chains. */
export const renumberedChainsFile = (): string =>
  changedChainsFile((chain) => {
    chain.id += RENUMBERED;
  });
