import { parseAbiItem, type Address, type PublicClient } from "viem";

const userOperationEvent = parseAbiItem(
  "event UserOperationEvent(bytes32 indexed userOpHash, address indexed sender, address indexed paymaster, uint256 nonce, bool success, uint256 actualGasCost, uint256 actualGasUsed)",
);

/** The events of all user operations that EntryPoint has executed for an account. */
export const executionsOf = (client: PublicClient, entryPoint: Address, sender: Address) =>
  client.getLogs({
    ...{ address: entryPoint, event: userOperationEvent, args: { sender }, fromBlock: 0n },
    strict: true,
  });
