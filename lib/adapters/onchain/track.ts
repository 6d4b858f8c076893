import { encodeFunctionData, keccak256, slice } from "viem";
import { DomainError } from "@/lib/core/errors";
import { agreedAnswer } from "@/lib/chain/agreement";
import type { BridgeProgress, TrackOptions } from "@/lib/money/ports/routing";
import type { RouteRequest } from "@/lib/core/route-request";
import type { EvmAddress } from "@/lib/core/evm";
import { depositKey, type DepositRecord, spokePoolAbi } from "./plan";
import { relayHash } from "./across";
import { askChain, type OnchainDeps, readMany } from "./chain-access";
import { createPositions, scanBlocks } from "./log-ranges";
import { eventsOf, sumTransfers, unwrappedBy } from "./receipts";
import { createRefundSearch } from "./refund";

const FILLED = 2n;
const NO_MESSAGE = `0x${"0".repeat(64)}`;

export const spokePoolOf = (
  { registry }: Pick<OnchainDeps, "registry">,
  chainId: number,
): EvmAddress => {
  const chain = registry.get(chainId);
  const spokePool = chain.contracts.across?.spokePool;
  if (spokePool !== undefined) return spokePool;
  throw new DomainError(
    "provider_error",
    `${chain.name} has no bridge configured any more, so this deposit cannot be followed. The money is where the deposit left it.`,
  );
};

type FilledRelay = Extract<
  ReturnType<typeof eventsOf<typeof spokePoolAbi>>[number],
  { eventName: "FilledRelay" }
>["args"];

/**
 * Whether a fill is of our deposit. Anybody can fill an invented relay with our deposit's number,
 * so every other field must match too.
 */
const fills = (deposit: DepositRecord, args: FilledRelay): boolean =>
  args.originChainId === BigInt(deposit.originChainId) &&
  args.depositId === deposit.depositId &&
  args.depositor === deposit.depositor &&
  args.recipient === deposit.recipient &&
  args.exclusiveRelayer === deposit.exclusiveRelayer &&
  args.inputToken === deposit.inputToken &&
  args.outputToken === deposit.outputToken &&
  args.inputAmount === deposit.inputAmount &&
  args.outputAmount === deposit.outputAmount &&
  args.fillDeadline === deposit.fillDeadline &&
  args.exclusivityDeadline === deposit.exclusivityDeadline &&
  args.messageHash === (deposit.message === "0x" ? NO_MESSAGE : keccak256(deposit.message));

/**
 * The amount that the recipient got from this fill. Counts only logs between the previous fill of
 * the transaction and this one.
 */
const receivedBy = async (
  deps: OnchainDeps,
  request: RouteRequest,
  deposit: DepositRecord,
  fill: { readonly txHash: `0x${string}`; readonly logIndex: number },
  signal: AbortSignal,
): Promise<bigint> => {
  const chainId = deposit.destinationChainId;
  const spokePool = spokePoolOf(deps, chainId);
  const receipt = await askChain(deps, chainId, signal, (client) =>
    client.getTransactionReceipt({ hash: fill.txHash }),
  );
  const nextFill = receipt.logs.find(
    (log) =>
      log.logIndex > fill.logIndex &&
      eventsOf(spokePoolAbi, spokePool, [log]).some(
        ({ eventName }) => eventName === "FilledRelay",
      ),
  );
  const logs = receipt.logs.filter(
    ({ logIndex }) =>
      logIndex > fill.logIndex && (nextFill === undefined || logIndex < nextFill.logIndex),
  );
  const { token, recipient } = request.destination;
  if (token.address !== "native") return sumTransfers(logs, token.address, { to: recipient });
  const { wrappedNative, uniswapV3 } = deps.registry.get(chainId).contracts;
  const handler = slice(deposit.recipient, 12);
  return unwrappedBy(
    logs,
    wrappedNative,
    uniswapV3 === undefined ? [handler] : [handler, uniswapV3.swapRouter02],
  );
};

const findFill = async (
  deps: OnchainDeps,
  positions: ReturnType<typeof createPositions>,
  request: RouteRequest,
  deposit: DepositRecord,
  signal: AbortSignal,
): Promise<BridgeProgress> => {
  const chainId = deposit.destinationChainId;
  const head = await askChain(deps, chainId, signal, (client) =>
    client.getBlockNumber({ cacheTime: 0 }),
  );
  const key = depositKey(deposit);
  const first = deposit.destinationBlock - deps.tuning.reorgBlocks;
  const { found, scannedTo } = await scanBlocks(deps, {
    chainId,
    span: { from: positions.get(key) ?? (first > 0n ? first : 0n), to: head },
    visit: async (range) => {
      const logs = await askChain(deps, chainId, signal, (client) =>
        client.getContractEvents({
          address: spokePoolOf(deps, chainId),
          abi: spokePoolAbi,
          eventName: "FilledRelay",
          args: { originChainId: BigInt(deposit.originChainId), depositId: deposit.depositId },
          fromBlock: range.from,
          toBlock: range.to,
          strict: true,
        }),
      );
      return logs.find(({ args }) => fills(deposit, args)) ?? null;
    },
  });
  if (found === null) {
    // The contract reports the deposit as filled, but the event was not found: either it is in
    // later blocks, or this node's logs lag behind its state. In the second case the next search
    // starts over, because a searched block may have the event by then.
    if (scannedTo < head) positions.remember(key, scannedTo + 1n);
    else positions.forget(key);
    return { state: "waiting" };
  }
  const fill = { txHash: found.transactionHash, logIndex: found.logIndex };
  return {
    state: "filled",
    chainId,
    txHash: found.transactionHash,
    blockNumber: found.blockNumber,
    receivedBase: await receivedBy(deps, request, deposit, fill, signal),
  };
};

/**
 * Reads time and status in one `eth_call`, because both must be of the same state to prove that the
 * deposit was not filled by its deadline.
 */
const readStatus = async (deps: OnchainDeps, deposit: DepositRecord, signal: AbortSignal) => {
  const chainId = deposit.destinationChainId;
  const target = spokePoolOf(deps, chainId);
  const calls = [
    encodeFunctionData({
      abi: spokePoolAbi,
      functionName: "fillStatuses",
      args: [relayHash(deposit)],
    }),
    encodeFunctionData({ abi: spokePoolAbi, functionName: "getCurrentTime" }),
  ];
  const [status, time] = await readMany(
    deps,
    chainId,
    signal,
    calls.map((callData) => ({ target, callData })),
  );
  if (status && time) return { filled: BigInt(status) === FILLED, time: BigInt(time) };
  throw new DomainError(
    "provider_error",
    `The bridge at ${target} on chain ${chainId} does not report the status of its deposits. Whether this one was delivered is not known yet; nothing is sent again.`,
  );
};

type Track = (
  request: RouteRequest,
  deposit: DepositRecord,
  signal: AbortSignal,
) => Promise<BridgeProgress>;

const createChainTracker = (deps: OnchainDeps): Track => {
  const findRefund = createRefundSearch(deps);
  const positions = createPositions(deps.tuning);

  return async (request, deposit, signal) => {
    const { filled, time } = await readStatus(deps, deposit, signal);
    if (filled) return await findFill(deps, positions, request, deposit, signal);
    // A fill is still accepted at the second of the deadline.
    if (time <= BigInt(deposit.fillDeadline)) return { state: "waiting" };
    return await findRefund(deposit, signal);
  };
};

export const createTracker = (deps: OnchainDeps) => {
  const track = createChainTracker(deps);
  const ofProvider = new Map<number, Track>();

  const trackThrough = (view: OnchainDeps["registry"], index: number): Track => {
    const known = ofProvider.get(index) ?? createChainTracker({ ...deps, registry: view });
    ofProvider.set(index, known);
    return known;
  };

  return (
    request: RouteRequest,
    deposit: DepositRecord,
    signal: AbortSignal,
    options?: TrackOptions,
  ): Promise<BridgeProgress> => {
    if (options === undefined) return track(request, deposit, signal);
    return agreedAnswer({
      registry: deps.registry,
      chainId:
        options.expects === "filled" ? deposit.destinationChainId : deposit.originChainId,
      look: (view, index) => trackThrough(view, index)(request, deposit, signal),
      isExpected: ({ state }) => state === options.expects,
    });
  };
};
