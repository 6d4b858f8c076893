/**
 * Makes a local chain look like a rollup, whose transactions pay for their data on a parent chain.
 */
import {
  encodeFunctionData,
  http,
  createTestClient,
  parseAbi,
  publicActions,
  walletActions,
  type Hex,
} from "viem";
import {
  ARBITRUM_NODE_INTERFACE,
  OP_GAS_PRICE_ORACLE,
  type RollupKind,
} from "@/lib/chain/fees";
import { ROLLUP_FEES_CODE } from "./solidity/rollup-fees";

const abi = parseAbi(["function setPerByte(uint256 perByte)"]);
const ADDRESSES = {
  "op-stack": OP_GAS_PRICE_ORACLE,
  arbitrum: ARBITRUM_NODE_INTERFACE,
} as const;
const SENDER = "0x00000000000000000000000000000000000f3e5e";

/**
 * Puts a contract with the functions of the rollup's fee contract at the address of the fee
 * contract.
 * @returns a function that sets its price for each byte of data: in wei on the OP stack, in gas on
 * Arbitrum
 */
export const standInRollup = async (rpcUrl: string, kind: RollupKind) => {
  const address = ADDRESSES[kind];
  const client = createTestClient({ mode: "anvil", transport: http(rpcUrl) })
    .extend(publicActions)
    .extend(walletActions);
  const { data: bytecode } = await client.call({ data: ROLLUP_FEES_CODE });
  if (bytecode === undefined) throw new Error("The contract has no code.");
  await client.setCode({ address, bytecode });
  await client.setBalance({ address: SENDER, value: 10n ** 20n });
  return {
    setPerByte: async (perByte: bigint): Promise<void> => {
      const data: Hex = encodeFunctionData({
        abi,
        functionName: "setPerByte",
        args: [perByte],
      });
      const hash = await client.sendUnsignedTransaction({ from: SENDER, to: address, data });
      await client.waitForTransactionReceipt({ hash, pollingInterval: 20 });
    },
  };
};
