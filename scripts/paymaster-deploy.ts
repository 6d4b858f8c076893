/**
 * `npm run paymaster:deploy -- --chain <id> [--stake 0.1] [--deposit 0.5] [--owner 0x…]`: puts the project's paymaster on a chain of
 * CHAINS_FILE from the executor's account, and prints its address for that file. Amounts are in the chain's coin.
 */
import { existsSync } from "node:fs";
import { parseArgs } from "node:util";
import { getAddress, parseUnits } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { deployPaymaster } from "../lib/chains/erc4337/deploy-paymaster";
import { DEFAULT_CHAINS_FILE, readChains } from "../lib/config/env";
import { withoutPrefix } from "../lib/config/production";

const main = async (): Promise<void> => {
  if (existsSync(".env")) process.loadEnvFile(".env");
  const { values } = parseArgs({
    options: {
      chain: { type: "string" },
      stake: { type: "string", default: "0.1" },
      deposit: { type: "string", default: "0.5" },
      owner: { type: "string" },
    },
  });
  const problems: string[] = [];
  const chains = readChains(process.env.CHAINS_FILE ?? DEFAULT_CHAINS_FILE, process.env, problems);
  if (problems.length > 0) throw new Error(problems.join("\n"));
  const chain = chains.find(({ id }) => String(id) === values.chain);
  if (chain === undefined) {
    const known = chains.map(({ id, name }) => `${String(id)} (${name})`).join(", ");
    throw new Error(`Name a chain of CHAINS_FILE with --chain: ${known}.`);
  }
  const key = process.env.EXECUTOR_PRIVATE_KEY;
  if (!key) throw new Error("EXECUTOR_PRIVATE_KEY is needed: this account deploys the paymaster and marks for it.");
  const executor = privateKeyToAccount(withoutPrefix(key) as `0x${string}`);
  const owner = values.owner === undefined ? executor.address : getAddress(values.owner);
  const { symbol, decimals } = chain.nativeCurrency;
  const [rpcUrl = ""] = chain.rpcUrls;
  await deployPaymaster({
    chain: { id: chain.id, name: chain.name, rpcUrl, entryPoint: chain.contracts.entryPoint },
    executor,
    owner,
    stakeWei: parseUnits(values.stake, decimals),
    depositWei: parseUnits(values.deposit, decimals),
    deployed: (address) => {
      console.log(`Deployed on ${chain.name} (chain ${String(chain.id)}). Owner ${owner}, marker ${executor.address}.`);
      console.log(`Put this among its contracts in CHAINS_FILE: "paymaster": "${address}"`);
    },
  });
  console.log(`Staked ${values.stake} ${symbol}, deposited ${values.deposit} ${symbol}.`);
};

try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
