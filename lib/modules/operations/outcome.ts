import type { Token } from "@/lib/core/token";
import { toBigInt, toBigIntOrNull } from "@/lib/db/decimal";
import type { RouteLeg, RouteRequest } from "@/lib/ports/routing";
import { storedToken } from "@/lib/ports/routing-json";
import { isRetryable } from "./permissions";
import { storedWalletTransactions } from "./new-leg";
import type { LegRow, OperationWithLegs } from "./repository";

/** A leg with what it was asked to do. */
export interface LegView {
  readonly row: LegRow;
  readonly routeLeg: RouteLeg;
  readonly source: RouteRequest["sources"][number];
  readonly destination: RouteRequest["destination"];
}

/** Where one part of the money is. */
export interface Holding {
  /** 0x address, or the bridge's name for a deposit. */
  readonly wallet: string;
  readonly token: Token;
  readonly amountBase: bigint;
  readonly txHash: string | null;
  readonly note: string;
}

/** Failed, and the money may have moved all the same: what is said of it must invite nobody to send it a second time. */
const isUnclear = ({ row }: LegView): boolean => row.state === "failed" && !isRetryable(row.failure);

const UNCLEAR =
  "in the source wallet as far as the chain shows, but not for certain: look at the wallet's history first";

/** The token in which the bridge carries a leg, and pays it back. */
const bridgeStep = ({ routeLeg, source }: LegView): { token: Token; amountBase: bigint } => {
  const step = routeLeg.steps.find((each) => each.kind === "bridge");
  return step
    ? { token: step.from, amountBase: step.amountInBase }
    : { token: source.token, amountBase: source.amountBase };
};

/** The wallet's own transaction moves the money; before it is mined it may also be taken back. */
const underWay = (row: LegRow): Pick<Holding, "txHash" | "note"> => {
  if (row.via !== "transaction") return { txHash: null, note: "in the source wallet, about to be sent" };
  const { transactions } = storedWalletTransactions.parse(row.walletTransactions);
  return {
    txHash: transactions.at(-1)?.hash ?? null,
    note: "in the source wallet, until the transaction that it sent is mined",
  };
};

/**
 * A wallet's own transactions are not all or none: where the first was mined and the last was not, what the first bought is in the
 * wallet instead of what it sold.
 */
const stopped = ({ row, source }: LegView): Holding[] | null => {
  if (row.refundedBase === null || row.refundTxHash !== null || row.refundToken === null) return null;
  const place = { wallet: source.owner, txHash: null };
  const left = toBigInt(row.amountBase) - (toBigIntOrNull(row.spentBase) ?? 0n);
  const bought = {
    ...place,
    token: storedToken.parse(row.refundToken),
    amountBase: toBigInt(row.refundedBase),
    note: "bought by the wallet's first transaction, and still in the source wallet",
  };
  return left > 0n
    ? [bought, { ...place, token: source.token, amountBase: left, note: "in the source wallet; not spent" }]
    : [bought];
};

const main = (view: LegView): Holding => {
  const { row, source, destination } = view;
  const amountBase = toBigInt(row.amountBase);
  const own = { wallet: source.owner, token: source.token, amountBase };
  switch (row.state) {
    case "queued":
    case "submitted":
      return { ...own, ...underWay(row) };
    case "failed":
      return { ...own, txHash: row.sourceTxHash, note: "in the source wallet; nothing was taken" };
    case "source_seen":
      return row.failure === null
        ? {
            wallet: destination.recipient,
            token: destination.token,
            amountBase: toBigIntOrNull(row.receivedBase) ?? 0n,
            txHash: row.sourceTxHash,
            note: "received, waiting for confirmations",
          }
        : { ...own, txHash: row.sourceTxHash, note: "in the source wallet; the chain refused the transaction" };
    case "bridging":
      return {
        wallet: "Across deposit",
        ...bridgeStep(view),
        txHash: row.sourceTxHash,
        note: "with the bridge, waiting for a relayer",
      };
    case "refunding":
      return {
        wallet: "Across deposit",
        ...bridgeStep(view),
        txHash: row.sourceTxHash,
        note: "with the bridge, on its way back",
      };
    case "filled_seen":
    case "completed": {
      const hash = row.destTxHash ?? row.sourceTxHash;
      const note = row.state === "completed" ? "received" : "received, waiting for confirmations";
      return {
        wallet: destination.recipient,
        token: destination.token,
        amountBase: toBigIntOrNull(row.receivedBase) ?? 0n,
        txHash: hash,
        note,
      };
    }
    case "refund_seen":
    case "refunded": {
      const { token: bridgedToken, amountBase: bridged } = bridgeStep(view);
      const token = row.refundToken === null ? bridgedToken : storedToken.parse(row.refundToken);
      const back = toBigIntOrNull(row.refundedBase) ?? bridged;
      return {
        wallet: source.owner,
        token,
        amountBase: back,
        txHash: row.refundTxHash,
        note: "back in the source wallet",
      };
    }
  }
};

/** Where each part of a leg's money is. What a swap did not need stays in the source wallet and is named too. */
export const holdingsOf = (view: LegView): Holding[] => {
  const holdings = stopped(view) ?? [main(view), ...unspent(view)];
  return isUnclear(view) ? holdings.map((holding) => ({ ...holding, note: UNCLEAR })) : holdings;
};

const unspent = ({ row, source }: LegView): Holding[] => {
  const spent = toBigIntOrNull(row.spentBase);
  if (spent === null || row.state === "failed" || row.failure !== null) return [];
  const amountBase = toBigInt(row.amountBase) - spent;
  if (amountBase <= 0n) return [];
  const note = "not needed, still in the source wallet";
  return [{ wallet: source.owner, token: source.token, amountBase, txHash: row.sourceTxHash, note }];
};

interface ChainNames {
  get(chainId: number): { readonly name: string };
}

const placesOf = (views: readonly LegView[], chains: ChainNames): string[] => [
  ...new Set(views.map(({ source }) => `${source.owner} on ${chains.get(source.token.chainId).name}`)),
];

/** What to do about legs that did not deliver. Of a wallet in which one of them is unclear, nothing else is said. */
const nextForTheRest = (
  legs: readonly LegView[],
  chains: ChainNames,
  whereAllIsClear: (places: string) => string,
): string => {
  const unclear = placesOf(legs.filter(isUnclear), chains);
  const clear = placesOf(legs, chains).filter((place) => !unclear.includes(place));
  if (unclear.length === 0) return whereAllIsClear(clear.join(", "));
  const warning = `As far as the chain shows, money is still in ${unclear.join(", ")}, but that is not certain: look at the wallet's history first, before you send anything again.`;
  return clear.length === 0 ? warning : `${warning} What is in ${clear.join(", ")} can be sent with a new quote.`;
};

/** What the person can do now, in a sentence. */
export const nextActionOf = (operation: OperationWithLegs, views: readonly LegView[], chains: ChainNames): string => {
  const rest = views.filter(({ row }) => row.state === "failed" || row.state === "refunded");
  switch (operation.status) {
    case "completed":
      if (rest.length === 0) return "Nothing to do: everything arrived.";
      return `A part arrived. ${nextForTheRest(rest, chains, (places) => `The rest is in ${places}; ask for a new quote to send it.`)}`;
    case "failed":
    case "refunded":
      return nextForTheRest(rest, chains, (places) => `The money is in ${places}. Ask for a new quote to try again.`);
    case "cancelled":
    case "expired":
      return "Nothing was sent. Ask for a new quote to try again.";
    case "pending":
      return operation.subStatus === "awaiting_approval"
        ? "Approve it with a one-time code, or cancel it. Nothing is sent before."
        : "Nothing to do: it is carried on by itself, also when this page is closed.";
    case "processing":
    case "partially_completed":
      return operation.subStatus === "refunding"
        ? "Nothing to do: the bridge sends the money back by itself."
        : operation.subStatus === "delayed"
          ? "Nothing to do: it takes longer than expected. It is delivered, or sent back after the bridge's deadline."
          : views.some(({ row }) => row.state === "submitted" && row.via === "transaction")
            ? "Nothing to do once the wallet has sent its transactions: it goes on as soon as the chain shows them."
            : "Nothing to do: it is carried on by itself, also when this page is closed.";
  }
};
