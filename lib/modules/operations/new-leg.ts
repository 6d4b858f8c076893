import type { SignedPermit } from "@/lib/modules/smart-accounts/service";
import type { SponsoredLeg } from "@/lib/modules/sponsorship/service";
import type { UserOperation, UserOperationGas } from "@/lib/ports/bundler";
import type { RouteLeg, RouteSource } from "@/lib/ports/routing";
import type { Leg, WalletTransaction } from "./leg";
import type { SentByWallet } from "./wallet-transaction-repository";

type Hex = `0x${string}`;

interface LegBase {
  readonly legId: string;
  readonly routeLeg: RouteLeg;
}

/** The service signs once a worker takes it up. */
interface ServiceSigned extends LegBase {
  readonly via: "user_operation";
  /** False: the calls only bring money to the wallet, so none of its balance is held. */
  readonly takesMoney?: boolean;
  readonly gas: UserOperationGas;
  readonly signed?: never;
}

/** The account's owner signed it; it is ready to be sent. */
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
  /** After this time they can move no money; null: they never expire. */
  readonly validUntil: Date | null;
  readonly fillDeadline: Date | null;
  readonly fromBlock: bigint;
}

/** The wallet signed a permit with which `executorWalletId` takes its tokens and makes the leg's calls. */
interface Permitted extends LegBase {
  readonly via: "permit";
  readonly gas: UserOperationGas;
  readonly executorWalletId: string;
  readonly permit: SignedPermit;
}

export type NewLeg = ServiceSigned | OwnerSigned | WalletSent | Permitted;

/** Initial values of the fields that are read from chains. */
const UNSEEN = {
  spentBase: null,
  receivedBase: null,
  fillDeadline: null,
  executorWalletId: null,
  walletTransactions: null,
  permit: null,
  userOperation: null,
  userOpHash: null,
  earlierUserOpHashes: [],
  gas: null,
  validUntil: null,
  fromBlock: 0n,
  sourceTxHash: null,
  sourceBlock: null,
  sourceConfirmations: 0,
  gasCostWei: null,
  gasPaidBy: null,
  deposit: null,
  destTxHash: null,
  destBlock: null,
  destConfirmations: 0,
  refundTxHash: null,
  refundBlock: null,
  refundedBase: null,
  refundToken: null,
  refundAttention: null,
  failure: null,
  version: 0,
} as const satisfies Partial<Leg>;

/** How the leg reaches the chain, and its first state. */
const ownFields = (leg: NewLeg): Pick<Leg, "state" | "via"> & Partial<Leg> => {
  switch (leg.via) {
    case "user_operation": {
      const { via, gas, signed } = leg;
      if (signed === undefined) return { state: "queued", via, gas };
      const { operation, ...rest } = signed;
      return { state: "submitted", via, gas, userOperation: operation, ...rest };
    }
    case "transaction": {
      const { via, transactions, fromNonce, validUntil, fillDeadline, fromBlock } = leg;
      const walletTransactions = { transactions: [...transactions], fromNonce };
      return { state: "submitted", via, walletTransactions, validUntil, fillDeadline, fromBlock };
    }
    case "permit": {
      const { via, gas, executorWalletId, permit } = leg;
      return { state: "queued", via, gas, executorWalletId, permit };
    }
  }
};

/** The leg as it is first stored. */
export const acceptedLeg = (
  leg: NewLeg,
  at: {
    projectId: string;
    operationId: string;
    position: number;
    walletId: string;
    source: RouteSource;
    destinationChainId: number;
    /** Maximum cost of the leg for the sponsor, and the UTC day whose budget it uses. */
    sponsor: Pick<Leg, "sponsorReservedWei" | "sponsorDay">;
    now: Date;
  },
): Leg => ({
  ...UNSEEN,
  id: leg.legId,
  projectId: at.projectId,
  operationId: at.operationId,
  position: at.position,
  walletId: at.walletId,
  walletAddress: at.source.owner,
  sourceChainId: at.source.token.chainId,
  destChainId: at.destinationChainId,
  routeLeg: leg.routeLeg,
  amountBase: at.source.amountBase,
  updatedAt: at.now,
  ...at.sponsor,
  ...ownFields(leg),
});

/**
 * Whether the leg's money is held. A wallet that sends by itself may have sent the money before execute is called, and
 * a hold could not prevent that.
 */
export const isHeld = (leg: NewLeg): boolean =>
  leg.via !== "transaction" && !(leg.via === "user_operation" && leg.takesMoney === false);

/** The part of a leg that the sponsor may have to pay for; null when a wallet pays for its own transactions. */
export const sponsoredLeg = (leg: NewLeg, chainId: number): SponsoredLeg | null => {
  if (leg.via === "transaction") return null;
  const { legId, gas, signed } = { signed: undefined, ...leg };
  return { legId, chainId, gas, ...(signed === undefined ? {} : { operation: signed.operation }) };
};

/** The transactions that wallets reported as sent. Each hash belongs to one leg only. */
export const sentByWallets = (legs: readonly NewLeg[]): SentByWallet[] =>
  legs.flatMap((leg) =>
    leg.via === "transaction"
      ? leg.transactions.map(({ hash, actionId }) => ({ chainId: leg.chainId, hash, actionId, legId: leg.legId }))
      : [],
  );
