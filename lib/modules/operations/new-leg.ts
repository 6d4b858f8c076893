import { z } from "zod";
import { toDecimal } from "@/lib/db/decimal";
import type { SignedPermit } from "@/lib/modules/smart-accounts/service";
import type { SponsoredLeg } from "@/lib/modules/sponsorship/service";
import type { UserOperation, UserOperationGas } from "@/lib/ports/bundler";
import type { RouteLeg, RouteSource } from "@/lib/ports/routing";
import { storedAddress, storedBase, storedHex, toStored } from "@/lib/ports/routing-json";
import type { NewOperation } from "./repository";
import type { SentByWallet } from "./wallet-transaction-repository";

type Hex = `0x${string}`;

/** A transaction that a linked wallet sends by itself, with the hash that it gave, or that took its place. */
export const walletTransaction = z.object({
  actionId: z.string(),
  to: storedAddress,
  data: storedHex,
  /** In wei. */
  value: storedBase,
  hash: storedHex,
  /** Of the sender; null as long as no node has shown the transaction. */
  nonce: z.int().nullable(),
});

export type WalletTransaction = z.output<typeof walletTransaction>;

/** Column `wallet_transactions`. */
export const storedWalletTransactions = z.object({
  /** In the order in which they have to be mined. The last one carries the money on. */
  transactions: z.array(walletTransaction).min(1),
  /** Nonce of the wallet's next transaction when these were asked for: none of them is older. */
  fromNonce: z.int(),
});

interface LegBase {
  readonly legId: string;
  readonly routeLeg: RouteLeg;
}

/** The service signs once a worker takes it up. */
interface ServiceSigned extends LegBase {
  readonly via: "user_operation";
  /** False: the calls bring money to the wallet and take none, so that nothing of its balance is held. */
  readonly takesMoney?: boolean;
  readonly gas: UserOperationGas;
  readonly signed?: never;
}

/** What its owner signed, ready to be sent. */
interface OwnerSigned extends LegBase {
  readonly via: "user_operation";
  readonly takesMoney?: never;
  readonly gas: UserOperationGas;
  readonly signed: {
    readonly operation: UserOperation;
    readonly userOpHash: Hex;
    readonly validUntil: Date;
    readonly fillDeadline: Date | null;
    readonly fromBlock: bigint;
  };
}

/** Transactions that the wallet sent, or says that it sent. */
interface WalletSent extends LegBase {
  readonly via: "transaction";
  readonly chainId: number;
  readonly transactions: readonly WalletTransaction[];
  readonly fromNonce: number;
  /** After this they can move no money; null: they always could. */
  readonly validUntil: Date | null;
  readonly fillDeadline: Date | null;
  readonly fromBlock: bigint;
}

/** The wallet allowed by signature that `executorWalletId` takes its tokens and makes the leg's calls. */
interface Permitted extends LegBase {
  readonly via: "permit";
  readonly gas: UserOperationGas;
  readonly executorWalletId: string;
  readonly permit: SignedPermit;
}

export type NewLeg = ServiceSigned | OwnerSigned | WalletSent | Permitted;

type LegColumns = NewOperation["legs"][number];
type OwnColumns = Pick<
  LegColumns,
  | "state"
  | "via"
  | "gas"
  | "fromBlock"
  | "userOperation"
  | "userOpHash"
  | "validUntil"
  | "fillDeadline"
  | "walletTransactions"
  | "executorWalletId"
  | "permit"
>;
/** What the sponsor pays for the leg at most, and the UTC day to whose budget it counts. */
type SponsorColumns = Pick<LegColumns, "sponsorReservedWei" | "sponsorDay">;

/** How the leg gets to the chain, and how far it is. */
const ownColumns = (leg: NewLeg): OwnColumns => {
  switch (leg.via) {
    case "user_operation": {
      const { signed } = leg;
      if (signed === undefined) return { state: "queued", via: leg.via, gas: toStored(leg.gas), fromBlock: 0n };
      const { operation, ...rest } = signed;
      return { state: "submitted", via: leg.via, gas: toStored(leg.gas), userOperation: toStored(operation), ...rest };
    }
    case "transaction": {
      const { via, transactions, fromNonce, validUntil, fillDeadline, fromBlock } = leg;
      const walletTransactions = toStored({ transactions, fromNonce });
      return { state: "submitted", via, gas: {}, walletTransactions, validUntil, fillDeadline, fromBlock };
    }
    case "permit": {
      const { via, gas, executorWalletId, permit } = leg;
      return { state: "queued", via, gas: toStored(gas), executorWalletId, permit: toStored(permit), fromBlock: 0n };
    }
  }
};

export const toLegRow = (
  leg: NewLeg,
  at: {
    operationId: string;
    position: number;
    walletId: string;
    source: RouteSource;
    destinationChainId: number;
    sponsor: SponsorColumns;
    now: Date;
  },
): LegColumns => ({
  id: leg.legId,
  operationId: at.operationId,
  position: at.position,
  walletId: at.walletId,
  walletAddress: at.source.owner,
  kind: leg.routeLeg.kind,
  sourceChainId: at.source.token.chainId,
  destChainId: at.destinationChainId,
  routeLeg: toStored(leg.routeLeg),
  amountBase: toDecimal(at.source.amountBase),
  updatedAt: at.now,
  ...at.sponsor,
  ...ownColumns(leg),
});

/**
 * Whether the leg's money is held for it. What a wallet sends by itself may have left it already when execute is called, and
 * nobody but the wallet can hold it back.
 */
export const isHeld = (leg: NewLeg): boolean =>
  leg.via !== "transaction" && !(leg.via === "user_operation" && leg.takesMoney === false);

/** What the sponsor may have to pay for; a wallet pays for its own transactions. */
export const sponsoredLeg = (leg: NewLeg, chainId: number): SponsoredLeg | null => {
  if (leg.via === "transaction") return null;
  const { legId, gas, signed } = { signed: undefined, ...leg };
  return { legId, chainId, gas, ...(signed === undefined ? {} : { operation: signed.operation }) };
};

/** What wallets say that they sent: every hash counts for one leg only. */
export const sentByWallets = (legs: readonly NewLeg[]): SentByWallet[] =>
  legs.flatMap((leg) =>
    leg.via === "transaction"
      ? leg.transactions.map(({ hash, actionId }) => ({ chainId: leg.chainId, hash, actionId, legId: leg.legId }))
      : [],
  );
