/**
 * `npm run paymaster:deploy -- --chain <id> [--stake 0.1] [--deposit 0.5] [--owner 0x…]`: deploys
 * the project's paymaster to a chain of CHAINS_FILE from the executor's account, and prints its
 * address for that file. Amounts are in the chain's coin.
 */
import { parseArgs } from "node:util";
import { getAddress, parseUnits } from "viem";
import { deployPaymaster } from "../lib/chain/erc4337/deploy-paymaster";
import { chainAndExecutor } from "./chain-and-executor";
import { runCommand } from "./command";

const main = async (): Promise<void> => {
  const { values } = parseArgs({
    options: {
      chain: { type: "string" },
      stake: { type: "string", default: "0.1" },
      deposit: { type: "string", default: "0.5" },
      owner: { type: "string" },
    },
  });
  const { chain, rpcUrl, executor } = chainAndExecutor(
    values.chain,
    "deploys the paymaster and marks for it",
  );
  const owner = values.owner === undefined ? executor.address : getAddress(values.owner);
  const { symbol, decimals } = chain.nativeCurrency;
  await deployPaymaster({
    chain: { id: chain.id, name: chain.name, rpcUrl, entryPoint: chain.contracts.entryPoint },
    executor,
    owner,
    stakeWei: parseUnits(values.stake, decimals),
    depositWei: parseUnits(values.deposit, decimals),
    deployed: (address) => {
      console.log(
        `Deployed on ${chain.name} (chain ${String(chain.id)}). Owner ${owner}, marker ${executor.address}.`,
      );
      console.log(`Put this among its contracts in CHAINS_FILE: "paymaster": "${address}"`);
    },
  });
  console.log(`Staked ${values.stake} ${symbol}, deposited ${values.deposit} ${symbol}.`);
};

await runCommand(main);
