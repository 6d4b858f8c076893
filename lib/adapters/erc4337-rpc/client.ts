import { type Hex, isHex, numberToHex } from "viem";
import { z } from "zod";
import type { UserOperation, UserOperationGas } from "@/lib/chain/ports/bundler";
import { redactSecrets } from "@/lib/core/redaction";

const hex = z.string().refine((text): text is `0x${string}` => isHex(text), "must be hex");
const quantity = hex.transform((text) => (text === "0x" ? 0n : BigInt(text)));

const rpcAnswer = z.union([
  z.object({ error: z.object({ code: z.number(), message: z.string() }) }),
  z.object({ result: z.unknown() }),
]);

/** Answers of ERC-7769 (the JSON-RPC of ERC-4337), with only the fields that this adapter reads. */
export const sendAnswer = hex;

export const estimateAnswer = z.object({
  preVerificationGas: quantity,
  verificationGasLimit: quantity,
  callGasLimit: quantity,
  paymasterVerificationGasLimit: quantity.nullish(),
  paymasterPostOpGasLimit: quantity.nullish(),
});

export const operationAnswer = z.object({ userOperation: z.unknown() }).nullable();

export const statusAnswer = z.object({ status: z.string() });

export const receiptAnswer = z
  .object({ receipt: z.object({ transactionHash: hex }) })
  .nullable();

export const gasPriceAnswer = z.object({
  fast: z.object({ maxFeePerGas: quantity, maxPriorityFeePerGas: quantity }),
});

export const toRpcOperation = (operation: UserOperation): Record<string, Hex> => ({
  sender: operation.sender,
  nonce: numberToHex(operation.nonce),
  callData: operation.callData,
  callGasLimit: numberToHex(operation.callGasLimit),
  verificationGasLimit: numberToHex(operation.verificationGasLimit),
  preVerificationGas: numberToHex(operation.preVerificationGas),
  maxFeePerGas: numberToHex(operation.maxFeePerGas),
  maxPriorityFeePerGas: numberToHex(operation.maxPriorityFeePerGas),
  signature: operation.signature,
  ...(operation.factory === undefined
    ? {}
    : { factory: operation.factory, factoryData: operation.factoryData ?? "0x" }),
  ...(operation.paymaster === undefined
    ? {}
    : {
        paymaster: operation.paymaster,
        paymasterVerificationGasLimit: numberToHex(
          operation.paymasterVerificationGasLimit ?? 0n,
        ),
        paymasterPostOpGasLimit: numberToHex(operation.paymasterPostOpGasLimit ?? 0n),
        paymasterData: operation.paymasterData ?? "0x",
      }),
});

export const toGas = (answer: z.output<typeof estimateAnswer>): UserOperationGas => ({
  callGasLimit: answer.callGasLimit,
  verificationGasLimit: answer.verificationGasLimit,
  preVerificationGas: answer.preVerificationGas,
  paymasterVerificationGasLimit: answer.paymasterVerificationGasLimit ?? 0n,
  paymasterPostOpGasLimit: answer.paymasterPostOpGasLimit ?? 0n,
});

const DEADLINE_MS = 10_000;

export class BundlerRefusal extends Error {
  constructor(
    readonly rpcCode: number,
    message: string,
  ) {
    // The bundler may quote its node's URL, and this text is shown to callers.
    super(redactSecrets(message));
    this.name = "BundlerRefusal";
  }
}

/**
 * The bundler did not answer, or its answer could not be parsed. It is unknown whether it processed
 * the request.
 */
export class BundlerUnreachable extends Error {
  constructor(method: string, cause: unknown) {
    super(`The bundler did not answer ${method}.`, { cause });
    this.name = "BundlerUnreachable";
  }
}

export interface RpcClient {
  /**
   * Calls a JSON-RPC method, and parses the result with `answer`. @throws BundlerRefusal,
   * BundlerUnreachable
   */
  call<T extends z.ZodType>(
    method: string,
    params: readonly unknown[],
    answer: T,
  ): Promise<z.output<T>>;
}

export const createRpcClient = (url: string, fetchFn: typeof fetch = fetch): RpcClient => {
  let lastId = 0;

  const ask = async (
    method: string,
    params: readonly unknown[],
  ): Promise<z.output<typeof rpcAnswer>> => {
    try {
      const response = await fetchFn(url, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ jsonrpc: "2.0", id: (lastId += 1), method, params }),
        signal: AbortSignal.timeout(DEADLINE_MS),
      });
      return rpcAnswer.parse(await response.json());
    } catch (cause) {
      throw new BundlerUnreachable(method, cause);
    }
  };

  return {
    call: async (method, params, answer) => {
      const reply = await ask(method, params);
      if ("error" in reply) throw new BundlerRefusal(reply.error.code, reply.error.message);
      const parsed = answer.safeParse(reply.result);
      if (!parsed.success) throw new BundlerUnreachable(method, parsed.error);
      return parsed.data;
    },
  };
};
