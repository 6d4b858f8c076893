// The contract has no owner, and its address is the same on every chain.
import { deployDistributor, DISTRIBUTOR_ADDRESS } from "../lib/chain/distributor";
import { chainAndExecutor } from "./chain-and-executor";
import { defineCommand, NEEDS } from "./command";

export const command = defineCommand({
  options: {
    chain: { type: "string", value: "ID", about: "a chain of CHAINS_FILE; required" },
  },
  environment: [NEEDS.executor],
  run: async ({ values, output }) => {
    const { chain, rpcUrl, executor } = chainAndExecutor(
      values.chain,
      "pays for the transaction",
    );
    const isNew = await deployDistributor({
      chain: { id: chain.id, name: chain.name, rpcUrl },
      executor,
    });
    output.say(isNew ? `Deployed on ${chain.name}.` : `${chain.name} has it already.`);
    output.say(
      `Put this among its contracts in CHAINS_FILE: "distributor": "${DISTRIBUTOR_ADDRESS}"`,
    );
    return {
      isDone: true,
      result: { chainId: chain.id, distributor: DISTRIBUTOR_ADDRESS, isNew },
    };
  },
});
