import { z } from "zod";
import { jsonTypedData } from "@/lib/chains/typed-data";
import { storedPermit } from "@/lib/modules/smart-accounts/service";
import { storedAddress, storedBase, storedGas, storedHex, storedUserOperation } from "@/lib/ports/routing-json";

const unixSeconds = z.int();

/** An action that the caller's own wallet has to sign or send. */
const actionBase = z.object({ actionId: z.string(), description: z.string() });

const serviceLeg = z.object({
  by: z.literal("service"),
  legId: z.string(),
  gas: storedGas,
});

/** A user operation of a smart account, to be signed by its owner. */
const ownerLeg = z.object({
  by: z.literal("owner"),
  legId: z.string(),
  gas: storedGas,
  action: actionBase.extend({ signer: storedAddress, typedData: jsonTypedData }),
  /** Contains a dummy signature. */
  operation: storedUserOperation,
  userOpHash: storedHex,
  validUntil: unixSeconds,
  fillDeadline: unixSeconds.nullable(),
  fromBlock: storedBase,
});

const preparedTransaction = actionBase.extend({
  to: storedAddress,
  data: storedHex,
  /** In wei. */
  value: storedBase,
  /** A sufficient gas limit. */
  gas: storedBase,
});

/** A plain wallet sends the transactions itself. */
const walletLeg = z.object({
  by: z.literal("wallet"),
  legId: z.string(),
  chainId: z.int(),
  wallet: storedAddress,
  transactions: z.array(preparedTransaction).min(1),
  /** Nonce of the wallet's next transaction. */
  fromNonce: z.int(),
  validUntil: unixSeconds.nullable(),
  fillDeadline: unixSeconds.nullable(),
  fromBlock: storedBase,
});

/** A plain wallet signs a permit with which the treasury takes its tokens and makes the leg's calls. */
const permitLeg = z.object({
  by: z.literal("permit"),
  legId: z.string(),
  gas: storedGas,
  action: actionBase.extend({ signer: storedAddress, typedData: jsonTypedData }),
  executorWalletId: z.string(),
  permit: storedPermit,
});

const preparedLeg = z.discriminatedUnion("by", [serviceLeg, ownerLeg, walletLeg, permitLeg]);

/** Column `prepared` of a quote: one entry for each leg of the route. */
export const storedPrepared = z.object({ legs: z.array(preparedLeg) });

/** How a leg gets signed, with the data to sign. */
export type PreparedLeg = z.output<typeof preparedLeg>;
export type OwnerLeg = z.output<typeof ownerLeg>;
export type WalletLeg = z.output<typeof walletLeg>;
export type PermitLeg = z.output<typeof permitLeg>;

const PREPARED_SECONDS = 60;
/** A person confirms transactions one after another, and each has to be mined before the next can be asked for. */
const WALLET_SECONDS = 600;

/**
 * Maximum time between prepare and execute. Every minimum is enforced on chain, so a late execution can only be
 * refused.
 */
export const preparedSeconds = (legs: readonly PreparedLeg[]): number =>
  legs.some((leg) => leg.by === "wallet") ? WALLET_SECONDS : PREPARED_SECONDS;
