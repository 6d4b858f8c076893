import { z } from "zod";
import { ROLES } from "@/lib/core/actor";
import { APPROVAL_ERRORS, givenApproval } from "./approvals";
import { address, amountOut, chainId, id, timestamp, otp } from "./common";
import { defineContract } from "./contract";

const tag = "Sign-in";

/** Characters. A contract's signature may be longer than a key's; with its message it fits into a public route's body. */
export const SIGNATURE_LENGTH_MAX = 10_000;

export const createNonce = defineContract({
  method: "POST",
  path: "/auth/nonce",
  summary: "A nonce for an EIP-4361 message, good for one attempt to sign in, 10 minutes",
  tag,
  auth: "public",
  signInAttempt: true,
  body: z.object({ address: address.optional() }),
  status: 200,
  response: z.object({
    nonce: z.string(),
    domain: z.string().meta({ description: "What the message must name as its domain" }),
    uri: z.string(),
    statement: z.string(),
    expiresAt: timestamp,
  }),
});

const tokens = z
  .object({
    accessToken: z.string(),
    tokenType: z.literal("Bearer"),
    expiresIn: z.int(),
    refreshToken: z.string(),
  })
  .meta({ id: "TokenPair" });

export const createToken = defineContract({
  method: "POST",
  path: "/auth/token",
  summary:
    "A signed EIP-4361 message for an access token; the first sign-in creates user, project and treasury. The attempt uses up the nonce, also when the signature is wrong",
  tag,
  auth: "public",
  signInAttempt: true,
  body: z.object({
    message: z.string().min(1).max(4096),
    signature: z
      .string()
      .max(SIGNATURE_LENGTH_MAX)
      .regex(/^0x[0-9a-fA-F]+$/),
  }),
  status: 200,
  response: tokens,
  errors: ["invalid_signature", "nonce_expired", "sign_up_closed"],
});

export const refreshToken = defineContract({
  method: "POST",
  path: "/auth/refresh",
  summary: "A new access token and refresh token; the old refresh token stops working",
  tag,
  auth: "public",
  body: z.object({ refreshToken: z.string().min(1).max(200) }),
  status: 200,
  response: tokens,
});

export const logout = defineContract({
  method: "POST",
  path: "/auth/logout",
  summary: "Ends the session of the access token",
  tag,
  auth: "user",
  personal: true,
  status: 200,
  response: z.object({ loggedOut: z.literal(true) }),
});

export const getJwks = defineContract({
  method: "GET",
  path: "/auth/jwks",
  summary: "Public keys of access tokens (RFC 7517)",
  tag,
  auth: "public",
  status: 200,
  response: z.object({ keys: z.array(z.record(z.string(), z.unknown())) }),
});

const me = z
  .object({
    id: z.string(),
    address,
    email: z.string().nullable(),
    emailVerified: z.boolean(),
    createdAt: timestamp,
    projects: z.array(
      z.object({ id: z.string(), name: z.string(), role: z.enum(["owner", "admin", "operator", "viewer"]) }),
    ),
  })
  .meta({ id: "Profile" });

const sponsorBudget = z
  .object({
    chainId,
    symbol: z.string().meta({ description: "The chain's coin, in units of which all amounts are" }),
    dailyLimit: amountOut,
    used: amountOut.meta({ description: "Paid for operations that were accepted today" }),
    reserved: amountOut.meta({ description: "The most that today's operations which have not ended may still cost" }),
    remaining: amountOut,
    resetsAt: timestamp,
    perOperation: amountOut.meta({ description: "The most that one operation may cost" }),
  })
  .meta({
    id: "SponsorBudget",
    description: "What the project's sponsor pays for network fees on a chain, on this UTC day",
  });

export const whoAmI = defineContract({
  method: "GET",
  path: "/auth/whoami",
  summary: "Who a key or token stands for, and what it may do: tries credentials without touching anything",
  tag,
  auth: "member",
  status: 200,
  response: z.object({
    type: z.enum(["apiKey", "user"]),
    id: z.string().meta({ description: "Id of the API key, or of the person" }),
    projectId: id("prj"),
    role: z.enum(ROLES).nullable().meta({ description: "Of a person; null for an API key" }),
    scopes: z.array(z.string()).nullable().meta({ description: "Of an API key; null for a person" }),
  }),
});

export const getMe = defineContract({
  method: "GET",
  path: "/me",
  summary: "The signed-in person, and what the project's sponsor pays for network fees today",
  tag: "Profile",
  auth: "user",
  status: 200,
  response: me.extend({ sponsorBudgets: z.array(sponsorBudget) }),
});

export const updateMe = defineContract({
  method: "PATCH",
  path: "/me",
  summary:
    "Sets the e-mail address and mails a code to it; it counts once the code is verified. Replacing a verified address needs an approval (409 approval_required)",
  tag: "Profile",
  auth: "user",
  personal: true,
  body: z.object({ email: z.email().max(254), approval: givenApproval.optional() }),
  status: 200,
  response: me.extend({
    verification: z.object({ destination: z.string(), expiresAt: timestamp, resendAfter: timestamp }),
  }),
  errors: [...APPROVAL_ERRORS, "rate_limited", "provider_error"],
});

export const verifyEmail = defineContract({
  method: "POST",
  path: "/me/email/verify",
  summary: "Verifies the e-mail address with the mailed code",
  tag: "Profile",
  auth: "user",
  personal: true,
  body: z.object({ code: otp }),
  status: 200,
  response: me,
  errors: ["otp_invalid", "otp_expired", "otp_attempts_exceeded"],
});
