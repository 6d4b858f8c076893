import { privateKeyToAccount, type PrivateKeyAccount } from "viem/accounts";
import type { ChainConfig } from "../lib/platform/config/chains";
import { DEFAULT_CHAINS_FILE, readChains } from "../lib/platform/config/env";
import { withoutPrefix } from "../lib/platform/config/values";
import { UsageError } from "./command";

/**
 * Reads the chain of CHAINS_FILE that the option `--chain` names, and the executor's account.
 * @param what action of the account, which follows "this account" in an error message
 * @throws UsageError when CHAINS_FILE has no such chain
 */
export const chainAndExecutor = (
  chainId: string | undefined,
  what: string,
): { chain: ChainConfig; rpcUrl: string; executor: PrivateKeyAccount } => {
  const problems: string[] = [];
  const chains = readChains(
    process.env.CHAINS_FILE ?? DEFAULT_CHAINS_FILE,
    process.env,
    problems,
  );
  if (problems.length > 0) throw new Error(problems.join("\n"));
  const chain = chains.find(({ id }) => String(id) === chainId);
  if (chain === undefined) {
    const known = chains.map(({ id, name }) => `${String(id)} (${name})`).join(", ");
    throw new UsageError(`Name a chain of CHAINS_FILE with --chain: ${known}.`);
  }
  const key = process.env.EXECUTOR_PRIVATE_KEY;
  if (!key) throw new Error(`EXECUTOR_PRIVATE_KEY is needed: this account ${what}.`);
  const [rpcUrl = ""] = chain.rpcUrls;
  return { chain, rpcUrl, executor: privateKeyToAccount(withoutPrefix(key) as `0x${string}`) };
};
