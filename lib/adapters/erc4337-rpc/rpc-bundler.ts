import type { Hex } from "viem";
import { isPaidBy } from "@/lib/chain/erc4337/bundle-call";
import { createOperationFinder, readBundle } from "@/lib/chain/erc4337/operation-receipt";
import { hashUserOperation } from "@/lib/chain/erc4337/user-operation";
import { capFees, feesWithinCap } from "@/lib/chain/fees";
import { chainCall, type ChainRegistry } from "@/lib/chain/registry";
import { DomainError } from "@/lib/core/errors";
import {
  PreVerificationGasTooLowError,
  WaitsForTurnError,
  type Bundler,
  type SenderQueue,
  type UserOperation,
  type UserOperationGas,
} from "@/lib/chain/ports/bundler";
import { createMarker, type Marker, type MarkerDeps } from "./marker";
import {
  BundlerRefusal,
  BundlerUnreachable,
  createRpcClient,
  estimateAnswer,
  gasPriceAnswer,
  operationAnswer,
  receiptAnswer,
  type RpcClient,
  sendAnswer,
  statusAnswer,
  toGas,
  toRpcOperation,
} from "./client";

export interface RpcBundlerDeps {
  readonly registry: ChainRegistry;
  readonly urls: ReadonlyMap<number, string>;
  /**
   * The account that marks operations for the project's paymaster. Without it (null), operations
   * with this paymaster are not submitted.
   */
  readonly marker: Pick<MarkerDeps, "transactions" | "executorAddress"> | null;
  /** Null when the bundlers accept any number of operations per sender. */
  readonly queue?: SenderQueue | null;
  readonly fetchFn?: typeof fetch;
}

/** Time after which an operation whose validity is unknown leaves the sender's queue. */
const VALIDITY_MS = 600_000;
/**
 * Margin on the estimated `preVerificationGas`, in percent. A bundler checks the value again at
 * submission, and a rollup's fee for data on its parent chain changes by up to an eighth per block
 * of that chain.
 */
const PRE_VERIFICATION_MARGIN_PERCENT = 25n;

const withMargin = (preVerificationGas: bigint): bigint =>
  preVerificationGas + (preVerificationGas * PRE_VERIFICATION_MARGIN_PERCENT) / 100n;

/**
 * EntryPoint's error code in a bundler's message. ERC-7769 requires the bundler to repeat
 * EntryPoint's text, which starts with the code. The code is for people and metrics; no decision
 * depends on it.
 */
const entryPointCodeIn = (message: string): { entryPointCode?: string } => {
  const [code] = /\bAA\d{2}\b/.exec(message) ?? [];
  return code === undefined ? {} : { entryPointCode: code };
};

/**
 * Extra gas for reading a mark from storage. The bundler's estimate does not contain it, because
 * the estimate runs without a mark.
 */
const MARK_USE_GAS = 10_000n;

const METHOD_NOT_FOUND = -32601;
const INVALID_PARAMS = -32602;
const EXECUTION_REVERTED = -32521;
/** Bundler statuses of an operation that is waiting or was mined. */
const UNDER_WAY: ReadonlySet<string> = new Set([
  "not_submitted",
  "queued",
  "submitted",
  "included",
]);
const KNOWN_ASKED_MAX = 3;
const KNOWN_ASKED_EVERY_MS = 100;
const no = (): boolean => false;

/**
 * ERC-7769 error codes with which a bundler definitely rejects an operation: by EntryPoint or the
 * paymaster, or because of opcodes, validity, reputation or stake.
 */
const REFUSALS = { from: -32507, to: -32500 } as const;

const isReasoned = (code: number): boolean =>
  (code >= REFUSALS.from && code <= REFUSALS.to) || code === EXECUTION_REVERTED;

const isRefusal = (code: number): boolean => isReasoned(code) || code === INVALID_PARAMS;

/**
 * Converts an error of the bundler.
 * @returns the error for the caller, with only the parts of the bundler's error that callers may
 * see
 */
const toDomainError = (chainName: string, error: unknown): unknown => {
  if (error instanceof BundlerUnreachable) {
    return new DomainError(
      "chain_unavailable",
      `The bundler of ${chainName} does not answer. Try again shortly.`,
      {
        cause: error,
      },
    );
  }
  if (!(error instanceof BundlerRefusal)) return error;
  if (isRefusal(error.rpcCode)) {
    const reason = error.message;
    return new DomainError(
      "simulation_failed",
      `${chainName} would not execute this: ${reason}. Nothing was sent.`,
      {
        cause: error,
        extra: { reason, ...entryPointCodeIn(reason) },
      },
    );
  }
  return new DomainError(
    "provider_error",
    `The bundler of ${chainName} could not do this now. Nothing was sent by this call; try again shortly.`,
    { cause: error },
  );
};

const isKnownNow = async (ask: RpcClient, userOpHash: Hex): Promise<boolean> => {
  const answers = await Promise.all([
    ask
      .call("eth_getUserOperationByHash", [userOpHash], operationAnswer)
      .then((found) => found !== null, no),
    // Some bundlers answer the standard method only for mined operations. For waiting ones they
    // answer `pimlico_getUserOperationStatus`.
    ask
      .call("pimlico_getUserOperationStatus", [userOpHash], statusAnswer)
      .then(({ status }) => UNDER_WAY.has(status), no),
  ]);
  return answers.includes(true);
};

/**
 * Whether the bundler has the operation that it has just refused. ERC-7769 has no code for "already
 * known", so the bundler is queried. The query is repeated when the refused request may have
 * arrived before the bundler had stored the first one.
 */
const isKnown = async (ask: RpcClient, userOpHash: Hex, error: unknown): Promise<boolean> => {
  // With an error code of `REFUSALS` the bundler has definitely rejected the operation. Any other
  // code leaves the operation's state unknown.
  const askedMax =
    error instanceof BundlerRefusal && !isReasoned(error.rpcCode) ? KNOWN_ASKED_MAX : 1;
  for (let asked = 0; asked < askedMax; asked += 1) {
    if (asked > 0) await new Promise((resolve) => setTimeout(resolve, KNOWN_ASKED_EVERY_MS));
    if (await isKnownNow(ask, userOpHash)) return true;
  }
  return false;
};

/** One client for each chain. @throws Error for a chain without a bundler */
const createClients = (
  urls: ReadonlyMap<number, string>,
  fetchFn?: typeof fetch,
): ((chainId: number) => RpcClient) => {
  const clients = new Map<number, RpcClient>();
  return (chainId) => {
    const known = clients.get(chainId);
    if (known !== undefined) return known;
    const url = urls.get(chainId);
    if (url === undefined) throw new Error(`No bundler is configured for chain ${chainId}.`);
    const client = createRpcClient(url, fetchFn);
    clients.set(chainId, client);
    return client;
  };
};

interface SubmissionDeps extends Pick<RpcBundlerDeps, "registry"> {
  readonly clientOf: (chainId: number) => RpcClient;
  readonly queue: SenderQueue | null;
}

const createSubmission = ({ registry, clientOf, queue }: SubmissionDeps) => {
  const estimate = async (
    chainId: number,
    operation: UserOperation,
  ): Promise<UserOperationGas> => {
    const params = [toRpcOperation(operation), registry.get(chainId).contracts.entryPoint];
    return toGas(
      await clientOf(chainId).call("eth_estimateUserOperationGas", params, estimateAnswer),
    );
  };

  const requireEnoughGas = async (
    chainId: number,
    operation: UserOperation,
    refusal: unknown,
  ): Promise<void> => {
    const gas = await estimate(chainId, operation).catch(() => null);
    if (gas === null || gas.preVerificationGas <= operation.preVerificationGas) return;
    throw new PreVerificationGasTooLowError(
      registry.get(chainId).name,
      withMargin(gas.preVerificationGas),
      refusal,
    );
  };

  const send = async (
    chainId: number,
    operation: UserOperation,
    userOpHash: Hex,
  ): Promise<void> => {
    const { name, contracts } = registry.get(chainId);
    try {
      await clientOf(chainId).call(
        "eth_sendUserOperation",
        [toRpcOperation(operation), contracts.entryPoint],
        sendAnswer,
      );
    } catch (error) {
      if (await isKnown(clientOf(chainId), userOpHash, error)) return;
      if (error instanceof BundlerRefusal && isRefusal(error.rpcCode)) {
        // The bundler does not have the operation, so the operation must not block the sender's
        // queue.
        await queue?.leave(chainId, userOpHash);
        await requireEnoughGas(chainId, operation, error);
      }
      throw toDomainError(name, error);
    }
  };

  return { estimate, send };
};

/**
 * Submits user operations to any bundler that supports ERC-7769. The project's paymaster first
 * consents to the operations that it pays for. Receipts are read from the chain itself.
 */
export const createRpcBundler = ({
  registry,
  urls,
  marker,
  queue = null,
  fetchFn,
}: RpcBundlerDeps): Bundler => {
  const clientOf = createClients(urls, fetchFn);
  const withoutGasPrice = new Set<number>();
  const find = createOperationFinder(registry);

  const contextOf = (chainId: number) => {
    const chain = registry.get(chainId);
    return {
      name: chain.name,
      entryPoint: chain.contracts.entryPoint,
      client: registry.client(chainId),
    };
  };

  const fees: Bundler["fees"] = async (chainId) => {
    if (!withoutGasPrice.has(chainId)) {
      try {
        const { fast } = await clientOf(chainId).call(
          "pimlico_getUserOperationGasPrice",
          [],
          gasPriceAnswer,
        );
        // Uses the bundler's own fees, because the bundler rejects operations with lower fees.
        return capFees(registry.get(chainId), { ...fast, pricePerGas: fast.maxFeePerGas });
      } catch (error) {
        if (error instanceof BundlerRefusal && error.rpcCode === METHOD_NOT_FOUND)
          withoutGasPrice.add(chainId);
      }
    }
    return feesWithinCap(registry, chainId);
  };

  const mark: Marker =
    marker === null
      ? (chainId, operation) => {
          if (!isPaidBy(registry.get(chainId).contracts.paymaster ?? null, operation))
            return Promise.resolve();
          throw new Error("Without an executor nobody can mark operations for the paymaster.");
        }
      : createMarker({ registry, fees, ...marker });

  const { estimate, send } = createSubmission({ registry, clientOf, queue });

  return {
    id: "erc4337-rpc",
    fees,

    estimateGas: async (chainId, operation) => {
      const { name } = contextOf(chainId);
      try {
        const estimated = await estimate(chainId, operation);
        const gas = {
          ...estimated,
          preVerificationGas: withMargin(estimated.preVerificationGas),
        };
        const paymaster = registry.get(chainId).contracts.paymaster ?? null;
        if (!isPaidBy(paymaster, operation)) return gas;
        return {
          ...gas,
          paymasterVerificationGasLimit: gas.paymasterVerificationGasLimit + MARK_USE_GAS,
        };
      } catch (error) {
        throw toDomainError(name, error);
      }
    },

    submit: async (chainId, operation, options) => {
      const userOpHash = hashUserOperation(operation, chainId, contextOf(chainId).entryPoint);
      const validUntil = options?.validUntil ?? new Date(Date.now() + VALIDITY_MS);
      const isAdmitted = await queue?.admit({
        chainId,
        sender: operation.sender,
        userOpHash,
        validUntil,
      });
      if (isAdmitted === false) throw new WaitsForTurnError();
      await mark(chainId, operation, userOpHash);
      await send(chainId, operation, userOpHash);
      return { userOpHash };
    },

    receipt: async (chainId, userOpHash, fromBlock, isExpected) => {
      if (isExpected !== undefined) return find(chainId, userOpHash, fromBlock, isExpected);
      const { client, entryPoint } = contextOf(chainId);
      const query = { client, entryPoint };
      const named = await clientOf(chainId)
        .call("eth_getUserOperationReceipt", [userOpHash], receiptAnswer)
        .catch(() => null);
      const bundle =
        named === null
          ? null
          : await chainCall(chainId, () => readBundle(query, named.receipt.transactionHash));
      const receipt = bundle?.get(userOpHash) ?? (await find(chainId, userOpHash, fromBlock));
      if (receipt !== null) await queue?.leave(chainId, userOpHash);
      return receipt;
    },
  };
};
