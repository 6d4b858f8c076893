/**
 * `npm run distributor:deploy -- --chain <id>`: deploys the contract that pays batches of payouts
 * to a chain of CHAINS_FILE from the executor's account, and prints its address for that file. The
 * contract has no owner, and its address is the same on every chain.
 */
import { parseArgs } from "node:util";
import { deployDistributor, DISTRIBUTOR_ADDRESS } from "../lib/chain/distributor";
import { chainAndExecutor } from "./chain-and-executor";
import { runCommand } from "./command";

const main = async (): Promise<void> => {
  const { values } = parseArgs({ options: { chain: { type: "string" } } });
  const { chain, rpcUrl, executor } = chainAndExecutor(
    values.chain,
    "pays for the transaction",
  );
  const isNew = await deployDistributor({
    chain: { id: chain.id, name: chain.name, rpcUrl },
    executor,
  });
  console.log(isNew ? `Deployed on ${chain.name}.` : `${chain.name} has it already.`);
  console.log(
    `Put this among its contracts in CHAINS_FILE: "distributor": "${DISTRIBUTOR_ADDRESS}"`,
  );
};

await runCommand(main);
