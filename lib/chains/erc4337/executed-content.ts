/** The content of user operations that were executed: their call data and logs, from the transaction that executed them. */
import type { Hex } from "viem";
import { chainCall, type ChainRegistry } from "../registry";
import { operationsInCall, type ExecutedOperation } from "./executed-operations";
import { operationsOf, type OperationReceipt } from "./operation-receipt";
import { hashUserOperation, type UserOperationFields } from "./user-operation";

export interface ExecutedContent {
  /** Null where the bundle's call cannot be read. */
  readonly operation: UserOperationFields | null;
  readonly receipt: OperationReceipt | null;
  /** Call data of the whole transaction. */
  readonly input: Hex;
}

/** @throws DomainError `chain_unavailable` */
export const contentOf = async (
  registry: Pick<ChainRegistry, "get" | "client">,
  chainId: number,
  { txHash, userOpHash }: Pick<ExecutedOperation, "txHash" | "userOpHash">,
): Promise<ExecutedContent> => {
  const client = registry.client(chainId);
  const { entryPoint } = registry.get(chainId).contracts;
  const [{ input }, bundle] = await chainCall(chainId, () =>
    Promise.all([client.getTransaction({ hash: txHash }), client.getTransactionReceipt({ hash: txHash })]),
  );
  const operation = operationsInCall(input).find((each) => hashUserOperation(each, chainId, entryPoint) === userOpHash);
  return { operation: operation ?? null, receipt: operationsOf(bundle, entryPoint).get(userOpHash) ?? null, input };
};

/** The call data from which payments are read: of a bundle that cannot be read all, rather too much than too little. */
export const callDataOf = ({ operation, input }: Pick<ExecutedContent, "operation" | "input">): Hex =>
  operation?.callData ?? input;
