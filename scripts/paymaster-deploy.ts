import { getAddress, isAddress, parseUnits } from "viem";
import { deployPaymaster } from "../lib/chain/erc4337/deploy-paymaster";
import { chainAndExecutor } from "./chain-and-executor";
import { defineCommand, NEEDS, UsageError } from "./command";

export const command = defineCommand({
  options: {
    chain: { type: "string", value: "ID", about: "a chain of CHAINS_FILE; required" },
    stake: { type: "string", value: "COINS", about: "the stake at EntryPoint; 0.1 by default" },
    deposit: {
      type: "string",
      value: "COINS",
      about: "the deposit that pays network fees; 0.5 by default",
    },
    owner: {
      type: "string",
      value: "ADDRESS",
      about: "may withdraw both, and appoint markers; the executor by default",
    },
  },
  environment: [NEEDS.executor],
  run: async ({ values, output }) => {
    const { stake = "0.1", deposit = "0.5" } = values;
    const { chain, rpcUrl, executor } = chainAndExecutor(
      values.chain,
      "deploys the paymaster and marks for it",
    );
    if (values.owner !== undefined && !isAddress(values.owner))
      throw new UsageError(`--owner takes an address, and not ${values.owner}.`);
    const owner = values.owner === undefined ? executor.address : getAddress(values.owner);
    const { symbol, decimals } = chain.nativeCurrency;
    const paymaster = await deployPaymaster({
      chain: { id: chain.id, name: chain.name, rpcUrl, entryPoint: chain.contracts.entryPoint },
      executor,
      owner,
      stakeWei: parseUnits(stake, decimals),
      depositWei: parseUnits(deposit, decimals),
      deployed: (address) => {
        output.progress(
          `Deployed on ${chain.name} (chain ${String(chain.id)}). Owner ${owner}, marker ${executor.address}.`,
        );
        output.progress(
          `Put this among its contracts in CHAINS_FILE: "paymaster": "${address}"`,
        );
      },
    });
    output.say(`Staked ${stake} ${symbol}, deposited ${deposit} ${symbol}.`);
    return {
      isDone: true,
      result: {
        chainId: chain.id,
        paymaster,
        owner,
        marker: executor.address,
        stake,
        deposit,
        symbol,
      },
    };
  },
});
