import {
  hexToBigInt,
  pad,
  parseEventLogs,
  size,
  toEventSelector,
  zeroAddress,
  type Hex,
  type Log,
} from "viem";
import { DomainError } from "@/lib/core/errors";
import type { EvmAddress, ReceiptLog } from "@/lib/core/evm";
import type { RouteLeg, SourceOutcome, SourceReceipt } from "@/lib/money/ports/routing";
import type { RouteRequest, RouteSource } from "@/lib/core/route-request";
import {
  type BridgePlan,
  type DepositRecord,
  depositToJson,
  erc20TransferAbi,
  parsePlan,
  spokePoolAbi,
  wrappedNativeAbi,
} from "./plan";
import type { OnchainDeps } from "./chain-access";

type AnyLog = Pick<ReceiptLog, "address" | "topics" | "data">;

const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

export const eventsOf = <
  const A extends typeof erc20TransferAbi | typeof wrappedNativeAbi | typeof spokePoolAbi,
>(
  abi: A,
  contract: EvmAddress,
  logs: readonly AnyLog[],
) =>
  parseEventLogs({
    abi,
    logs: logs.filter(({ address }) => same(address, contract)).map(asRpcLog),
  });

/** Fills fields that `parseEventLogs` requires by type but does not read. */
const asRpcLog = ({ address, topics, data }: AnyLog): Log => ({
  address,
  topics: [...topics] as [Hex, ...Hex[]],
  data,
  blockHash: null,
  blockNumber: null,
  logIndex: null,
  transactionHash: null,
  transactionIndex: null,
  removed: false,
});

interface TransferFilter {
  readonly from?: EvmAddress;
  readonly to?: EvmAddress;
}

const TRANSFER_TOPIC = toEventSelector(erc20TransferAbi[0]);

const isParty = (topic: Hex | undefined, party: EvmAddress | undefined): boolean =>
  party === undefined || (topic !== undefined && same(topic, pad(party)));

/**
 * Sums the Transfer events of a token (ERC-20: both parties indexed, the amount as data). Reads the
 * fields directly, because every leg calls this several times, and a decoder hashes the event's
 * signature for each log.
 */
export const sumTransfers = (
  logs: readonly AnyLog[],
  token: EvmAddress,
  { from, to }: TransferFilter,
): bigint =>
  logs
    .filter(
      ({ address, topics, data }) =>
        topics[0] === TRANSFER_TOPIC &&
        topics.length === 3 &&
        size(data) === 32 &&
        same(address, token),
    )
    .filter(({ topics }) => isParty(topics[1], from) && isParty(topics[2], to))
    .reduce((sum, { data }) => sum + hexToBigInt(data), 0n);

const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b);

/**
 * Native coin that was wrapped for one of `holders`. WETH9 emits Deposit; the wrapped coins of some
 * rollups emit a Transfer from zero, or both.
 */
export const wrappedFor = (
  logs: readonly AnyLog[],
  weth: EvmAddress,
  holders: readonly EvmAddress[],
): bigint =>
  holders.reduce((total, holder) => {
    const deposits = eventsOf(wrappedNativeAbi, weth, logs)
      .filter((log) => log.eventName === "Deposit" && same(log.args.dst, holder))
      .reduce((sum, { args }) => sum + args.wad, 0n);
    return (
      total + larger(deposits, sumTransfers(logs, weth, { from: zeroAddress, to: holder }))
    );
  }, 0n);

export const unwrappedBy = (
  logs: readonly AnyLog[],
  weth: EvmAddress,
  holders: readonly EvmAddress[],
): bigint =>
  holders.reduce((total, holder) => {
    const withdrawals = eventsOf(wrappedNativeAbi, weth, logs)
      .filter((log) => log.eventName === "Withdrawal" && same(log.args.src, holder))
      .reduce((sum, { args }) => sum + args.wad, 0n);
    return (
      total + larger(withdrawals, sumTransfers(logs, weth, { from: holder, to: zeroAddress }))
    );
  }, 0n);

const flowContracts = (
  registry: OnchainDeps["registry"],
  chainId: number,
): readonly EvmAddress[] => {
  const { uniswapV3, across } = registry.get(chainId).contracts;
  return [uniswapV3?.swapRouter02, across?.spokePool, across?.spokePoolPeriphery].filter(
    (address) => address !== undefined,
  );
};

/**
 * The amount that left the source's wallet, according to the logs. A native coin has no Transfer
 * events, so its amount is the value that the router, the SpokePool, its periphery or the wallet
 * wrapped.
 */
export const spentBy = (
  { registry }: Pick<OnchainDeps, "registry">,
  { owner, token }: Pick<RouteSource, "owner" | "token">,
  logs: readonly AnyLog[],
): bigint => {
  const { wrappedNative } = registry.get(token.chainId).contracts;
  if (token.address === "native") {
    return wrappedFor(logs, wrappedNative, [...flowContracts(registry, token.chainId), owner]);
  }
  const out = sumTransfers(logs, token.address, { from: owner });
  const back = sumTransfers(logs, token.address, { to: owner });
  // Canonical WETH9 burns without a Transfer event.
  const burnt = same(token.address, wrappedNative)
    ? unwrappedBy(logs, token.address, [owner]) -
      sumTransfers(logs, token.address, { from: owner, to: zeroAddress })
    : 0n;
  return out - back + burnt;
};

/**
 * The deposit that a leg made.
 * @throws DomainError `provider_error` when its transaction made none
 */
const depositIn = (
  { registry }: Pick<OnchainDeps, "registry">,
  { plan, source, request }: { plan: BridgePlan; source: RouteSource; request: RouteRequest },
  receipt: SourceReceipt,
): DepositRecord => {
  const spokePool = registry.get(receipt.chainId).contracts.across?.spokePool;
  const destinationChainId = request.destination.token.chainId;
  const found = (
    spokePool === undefined ? [] : eventsOf(spokePoolAbi, spokePool, receipt.logs)
  ).find(
    (log) =>
      log.eventName === "FundsDeposited" &&
      same(log.args.depositor, pad(source.owner)) &&
      same(log.args.inputToken, pad(plan.inputToken)) &&
      log.args.destinationChainId === BigInt(destinationChainId),
  );
  if (found?.eventName !== "FundsDeposited") {
    throw new DomainError(
      "provider_error",
      `The transaction ${receipt.txHash} on ${registry.get(receipt.chainId).name} made no deposit into the bridge.`,
    );
  }
  const { args } = found;
  return {
    originChainId: receipt.chainId,
    destinationChainId,
    depositId: args.depositId,
    depositor: args.depositor,
    recipient: args.recipient,
    exclusiveRelayer: args.exclusiveRelayer,
    inputToken: args.inputToken,
    outputToken: args.outputToken,
    inputAmount: args.inputAmount,
    outputAmount: args.outputAmount,
    fillDeadline: args.fillDeadline,
    exclusivityDeadline: args.exclusivityDeadline,
    message: args.message,
    originBlock: receipt.blockNumber,
    destinationBlock: plan.destinationBlock,
    txHash: receipt.txHash,
  };
};

/**
 * Reads the effects of a mined leg from its logs, never from its plan, except for native transfers,
 * which have no logs.
 */
export const createSourceReader = (deps: Pick<OnchainDeps, "registry">) => {
  const { registry } = deps;
  const contractsOf = (chainId: number): readonly EvmAddress[] =>
    flowContracts(registry, chainId);
  const spent = (source: RouteSource, logs: readonly ReceiptLog[]): bigint =>
    spentBy(deps, source, logs);

  const received = (
    request: RouteRequest,
    source: RouteSource,
    logs: readonly ReceiptLog[],
  ): bigint => {
    const { token, recipient } = request.destination;
    const weth = registry.get(token.chainId).contracts.wrappedNative;
    if (token.address === "native") {
      return unwrappedBy(logs, weth, [...contractsOf(token.chainId), source.owner]);
    }
    const isOwn = same(recipient, source.owner);
    // A token with a transfer fee may deduct the fee from the recipient in the same transfer.
    const taken = isOwn ? 0n : sumTransfers(logs, token.address, { from: recipient });
    const arrived = sumTransfers(logs, token.address, { to: recipient }) - taken;
    // When a wallet wraps for itself, WETH9 emits Deposit but not Transfer.
    const minted =
      same(token.address, weth) && isOwn
        ? wrappedFor(logs, weth, [recipient]) -
          sumTransfers(logs, weth, { from: zeroAddress, to: recipient })
        : 0n;
    return arrived + minted;
  };

  return (request: RouteRequest, leg: RouteLeg, receipt: SourceReceipt): SourceOutcome => {
    const source = request.sources[leg.sourceIndex];
    if (source === undefined)
      throw new RangeError(`There is no source ${leg.sourceIndex} in this request.`);
    const plan = parsePlan(leg.plan);
    const noDeposit = { deposit: null, depositedBase: null };
    if (plan.kind === "bridge") {
      const record = depositIn(deps, { plan, source, request }, receipt);
      return {
        spentBase: spent(source, receipt.logs),
        receivedBase: null,
        deposit: depositToJson(record),
        depositedBase: record.inputAmount,
      };
    }
    if (plan.kind === "transfer" && source.token.address === "native") {
      // A native transfer has no log. The batch is atomic, so if it was mined it moved exactly the
      // requested amount.
      return { spentBase: source.amountBase, receivedBase: source.amountBase, ...noDeposit };
    }
    return {
      spentBase: spent(source, receipt.logs),
      receivedBase: received(request, source, receipt.logs),
      ...noDeposit,
    };
  };
};
