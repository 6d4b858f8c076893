/** Quotes as they are read, and what wallets have to do before one is executed. */
import { z } from "zod";
import { address, amountOut, chainId, hex, id, timestamp, tokenAmount, tokenRecord } from "./common";

/** Who pays the network fee of what a source sends. */
const feePayer = z.enum(["sponsor", "wallet"]);

export const networkFeePaidBy = feePayer
  .nullable()
  .default(null)
  .meta({ description: "Who pays the network fee; null where that is known once it is prepared" });

const quoteDestination = z
  .object({
    chainId,
    address,
    token: tokenRecord,
    amount: amountOut,
    amountBase: z.string(),
    minAmount: amountOut.meta({ description: "The least that arrives, in units of the token. Enforced on chain" }),
    minAmountBase: z.string(),
    decimals: z.int(),
  })
  .meta({ id: "QuoteDestination" });

const quotedSource = tokenAmount
  .extend({
    address,
    chainId,
    walletId: id("wal"),
    expectedOut: amountOut,
    minOut: amountOut,
    estimatedSeconds: z.int(),
    networkFeePaidBy,
  })
  .meta({ id: "QuotedSource" });

const quotedFee = z
  .object({
    kind: z.enum(["bridge", "swap", "gas"]),
    amount: amountOut,
    token: tokenRecord,
    usd: z.string().nullable(),
  })
  .meta({ id: "QuotedFee" });

const quoteStep = z
  .object({
    sourceIndex: z.int(),
    kind: z.enum(["swap", "bridge", "transfer"]),
    venue: z.string(),
    from: tokenRecord,
    to: tokenRecord,
    amountIn: amountOut,
    amountOut,
  })
  .meta({ id: "QuoteStep" });

const quoteWarning = z.object({ code: z.string(), message: z.string() }).meta({ id: "QuoteWarning" });

const quoteAlternative = z
  .object({
    label: z.string(),
    amount: amountOut,
    minAmount: amountOut,
    estimatedSeconds: z.int(),
    steps: z.array(z.string()),
  })
  .meta({ id: "QuoteAlternative" });

export const quoteRecord = z
  .object({
    quoteId: id("qt"),
    expiresAt: timestamp,
    from: z.array(quotedSource),
    to: quoteDestination,
    rate: z
      .string()
      .nullable()
      .meta({ description: "Received per unit sent where all sources are one asset, else null" }),
    fees: z.array(quotedFee),
    priceImpactBps: z.int(),
    slippageBps: z.int(),
    estimatedSeconds: z.int(),
    steps: z.array(quoteStep),
    warnings: z.array(quoteWarning),
    alternatives: z.array(quoteAlternative),
  })
  .meta({ id: "Quote" });

/** What a wallet of one's own has to do, in this order, before execute. */
export const action = z
  .object({
    actionId: z.string(),
    walletId: id("wal"),
    walletAddress: address,
    signerAddress: address.meta({
      description: "Who signs or sends: the linked wallet, or the owner of the smart account",
    }),
    chainId,
    kind: z.enum(["user_operation", "typed_data", "transaction"]).meta({
      description:
        "user_operation and typed_data: sign `typedData` (EIP-712). transaction: send `transaction` from the wallet and give its hash",
    }),
    description: z.string(),
    typedData: z
      .record(z.string(), z.unknown())
      .optional()
      .meta({ description: "As eth_signTypedData_v4 takes it; integers as decimal strings" }),
    transaction: z
      .object({
        to: address,
        data: hex,
        value: z.string().meta({ description: "Wei, decimal" }),
        gas: z
          .string()
          .meta({ description: "A gas limit that suffices, decimal; an estimate of the wallet's own may fall short" }),
      })
      .optional()
      .meta({ description: "As eth_sendTransaction takes it, but for the value" }),
  })
  .meta({ id: "WalletAction" });

export const balanceChange = z
  .object({
    walletAddress: address,
    chainId,
    token: tokenRecord,
    change: z.string().meta({ description: "Signed decimal amount" }),
    certainty: z.enum(["simulated", "expected", "minimum"]),
  })
  .meta({ id: "BalanceChange" });
