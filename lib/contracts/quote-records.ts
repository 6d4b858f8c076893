/** Quotes in responses, and the actions of wallets before a quote is executed. */
import { z } from "zod";
import {
  address,
  amountOut,
  chainId,
  hex,
  id,
  jsonObject,
  timestamp,
  tokenAmount,
  tokenRecord,
} from "./common";
import { approvalRequirement } from "./approval-requirement";
import { warning } from "./warnings";

export const feePayer = z.enum(["sponsor", "wallet"]);

export const networkFeePaidBy = feePayer.nullable().default(null).meta({
  description: "Who pays the network fee; null where that is known once it is prepared",
});

const quoteDestination = z
  .object({
    chainId,
    address,
    token: tokenRecord.meta({ description: "The token that arrives" }),
    amount: amountOut.meta({ description: "Expected amount, in units of the token" }),
    amountBase: z
      .string()
      .meta({ description: "The same amount as an integer string of base units" }),
    minAmount: amountOut.meta({
      description: "The least that arrives, in units of the token. Enforced on chain",
    }),
    minAmountBase: z
      .string()
      .meta({ description: "minAmount as an integer string of base units" }),
    decimals: z
      .int()
      .meta({ description: "Decimals of the token: one unit is 10^decimals base units" }),
  })
  .meta({ id: "QuoteDestination" });

const quotedSource = tokenAmount
  .extend({
    address,
    chainId,
    walletId: id("wal").meta({ description: "Wallet of the project" }),
    expectedOut: amountOut.meta({
      description: "What this source is expected to bring, in units of the received token",
    }),
    minOut: amountOut.meta({
      description: "The least that this source brings, in units of the received token",
    }),
    estimatedSeconds: z
      .int()
      .meta({ description: "Expected time for this source, in seconds" }),
    networkFeePaidBy,
  })
  .meta({ id: "QuotedSource" });

const quotedFee = z
  .object({
    kind: z
      .enum(["bridge", "swap", "gas"])
      .meta({ description: "What the fee is for; `gas` is the network fee" }),
    amount: amountOut.meta({ description: "Amount in units of the fee's token" }),
    token: tokenRecord.meta({ description: "The token" }),
    usd: z.string().nullable().meta({
      description: "Value in US dollars, a decimal string; null where no price is known",
    }),
  })
  .meta({ id: "QuotedFee" });

const quoteStep = z
  .object({
    sourceIndex: z.int().meta({ description: "Source that the step belongs to, from 0" }),
    kind: z.enum(["swap", "bridge", "transfer"]).meta({ description: "What the step does" }),
    venue: z.string().meta({ description: "Exchange or bridge that does it" }),
    from: tokenRecord.meta({ description: "Token that goes in" }),
    to: tokenRecord.meta({ description: "Token that comes out" }),
    amountIn: amountOut.meta({ description: "What goes in, in units of its token" }),
    amountOut,
  })
  .meta({ id: "QuoteStep" });

/** Null for quotes that were stored before routes had ids. */
const routeId = z.string().nullable().default(null);

const quoteAlternative = z
  .object({
    routeId: routeId.meta({
      description: "Id of the route; ask for a quote with it to take this route",
    }),
    label: z.string().meta({ description: "Name of the route" }),
    amount: amountOut.meta({ description: "Expected amount" }),
    minAmount: amountOut.meta({ description: "The least that arrives" }),
    estimatedSeconds: z
      .int()
      .meta({ description: "Expected time from execute to arrival, in seconds" }),
    steps: z.array(z.string()).meta({ description: "What happens, in words" }),
  })
  .meta({ id: "QuoteAlternative" });

export const quoteRecord = z
  .object({
    id: id("qt").meta({ description: "Id of the quote" }),
    quoteId: id("qt").meta({
      description: "The same as `id`; goes into request-otp, prepare and execute",
    }),
    routeId: routeId.meta({
      description: "Id of the route that is taken: the way of each source, without amounts",
    }),
    expiresAt: timestamp.meta({
      description: "Until when it can be prepared, 300 seconds after it was made",
    }),
    from: z.array(quotedSource).meta({ description: "What leaves each source" }),
    to: quoteDestination.meta({ description: "What arrives where" }),
    rate: z.string().nullable().meta({
      description: "Received per unit sent where all sources are one asset, else null",
    }),
    fees: z
      .array(quotedFee)
      .meta({ description: "Fees; those of bridges and swaps are a part of the rate" }),
    priceImpactBps: z.int().meta({
      description: "How much worse the rate is than for a tiny amount, in basis points",
    }),
    oracleImpactBps: z.int().nullable().optional().meta({
      description:
        "How much less arrives than the sent amount is worth, fees included, in basis points, by price feeds that are independent of the pools; null where one is missing, which `warnings` says",
    }),
    slippageBps: z
      .int()
      .meta({ description: "Slippage that minAmount allows, in basis points" }),
    estimatedSeconds: z
      .int()
      .meta({ description: "Expected time from execute to arrival, in seconds" }),
    steps: z.array(quoteStep).meta({ description: "What happens, in order" }),
    warnings: z
      .array(warning)
      .meta({ description: "What a person should know before approving" }),
    votes: approvalRequirement.nullable().default(null).meta({
      description:
        "The votes that it needs by the policies when it was made; null: the code of one person suffices. Execute evaluates the policies again",
    }),
    alternatives: z
      .array(quoteAlternative)
      .meta({ description: "Other routes that were found, the best first" }),
  })
  .meta({ id: "Quote" });

const typedData = z
  .object({
    types: z
      .record(
        z.string(),
        z.array(
          z.object({
            name: z.string().meta({ description: "Name of the field" }),
            type: z.string().meta({ description: "Its type in Solidity, or another struct" }),
          }),
        ),
      )
      .meta({ description: "Fields of each struct, by its name" }),
    primaryType: z.string().meta({ description: "Struct of the message" }),
    domain: jsonObject.meta({
      description: "Contract and chain for which the signature is good",
    }),
    message: jsonObject.meta({ description: "What is signed; integers as decimal strings" }),
  })
  .meta({
    id: "TypedData",
    description: "Typed data as eth_signTypedData_v4 takes it (EIP-712)",
  });

/**
 * A signature or a transaction that the owner of a source wallet must make before execute, in the
 * order of the list.
 */
export const action = z
  .object({
    id: z.string().meta({
      description: "Id of the action; goes into `signatures` of execute as `actionId`",
    }),
    walletId: id("wal").meta({ description: "Wallet that the money leaves" }),
    walletAddress: address.meta({ description: "Address of the wallet" }),
    signerAddress: address.meta({
      description: "Who signs or sends: the linked wallet, or the owner of the smart account",
    }),
    chainId,
    kind: z.enum(["user_operation", "typed_data", "transaction"]).meta({
      description:
        "user_operation and typed_data: sign `typedData` (EIP-712). transaction: send `transaction` from the wallet and give its hash",
    }),
    description: z.string().meta({ description: "What is signed, for people" }),
    typedData: typedData
      .optional()
      .meta({ description: "What the signer signs; missing for a transaction" }),
    transaction: z
      .object({
        to: address.meta({ description: "Contract or account that is called" }),
        data: hex.meta({ description: "Call data" }),
        value: z.string().meta({ description: "Wei, decimal" }),
        gas: z.string().meta({
          description:
            "A gas limit that suffices, decimal; an estimate of the wallet's own may fall short",
        }),
      })
      .optional()
      .meta({ description: "As eth_sendTransaction takes it, but for the value" }),
  })
  .meta({ id: "WalletAction" });

export const balanceChange = z
  .object({
    walletAddress: address.meta({ description: "Address of the wallet" }),
    chainId,
    token: tokenRecord.meta({ description: "The token" }),
    change: z.string().meta({ description: "Signed decimal amount" }),
    certainty: z.enum(["simulated", "expected", "minimum"]).meta({
      description:
        "`simulated` on the chain, `expected` by the quote, or the `minimum` that is enforced",
    }),
  })
  .meta({ id: "BalanceChange" });
