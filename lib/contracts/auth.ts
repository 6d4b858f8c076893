import { z } from "zod";
import { ROLES } from "@/lib/core/actor";
import { APPROVAL_ERRORS, givenApproval } from "./approvals";
import { address, amountOut, chainId, id, timestamp, otp } from "./common";
import { defineContract } from "./contract";
import { personName } from "./names";

const tag = "Sign-in";

/**
 * Maximum length of a sign-in signature in characters. It leaves room for contract signatures,
 * which are longer than key signatures. Message and signature together still fit into the body of a
 * public route (16 KiB).
 */
export const SIGNATURE_LENGTH_MAX = 10_000;
export const INVITATION_TOKEN_LENGTH_MAX = 100;

export const createNonce = defineContract({
  method: "POST",
  path: "/auth/nonce",
  summary: "A nonce for an EIP-4361 message, good for one attempt to sign in, 10 minutes",
  description:
    "First step of a sign-in. Put the nonce, domain, uri and statement into an EIP-4361 message, let the wallet sign it, and send both to POST /auth/token within 10 minutes.",
  tag,
  auth: "public",
  signInAttempt: true,
  body: z.object({
    address: address.optional().meta({
      description:
        "The wallet that will sign; the nonce is good for it alone. Without it any wallet may use the nonce",
    }),
  }),
  status: 200,
  response: z.object({
    nonce: z.string().meta({ description: "Goes into the EIP-4361 message" }),
    domain: z.string().meta({ description: "What the message must name as its domain" }),
    uri: z.string().meta({ description: "URI that the message must name" }),
    statement: z.string().meta({ description: "Statement that the message must have" }),
    expiresAt: timestamp.meta({ description: "Until when the nonce can be used" }),
  }),
});

export const tokens = z
  .object({
    accessToken: z.string().meta({ description: "JWT for `Authorization: Bearer`" }),
    tokenType: z.literal("Bearer").meta({ description: "Always `Bearer`" }),
    expiresIn: z.int().meta({ description: "Lifetime of the access token in seconds" }),
    refreshToken: z
      .string()
      .meta({ description: "Gets the next pair at POST /auth/refresh, once" }),
  })
  .meta({ id: "TokenPair" });

export const createToken = defineContract({
  method: "POST",
  path: "/auth/token",
  summary:
    "A signed EIP-4361 message for an access token; the first sign-in creates user, project and treasury. The attempt uses up the nonce, also when the signature is wrong",
  description:
    "Second step of a sign-in. The access token is valid for one hour; send it as `Authorization: Bearer`. The first sign-in of a wallet creates a person, a project and its treasury. After a wrong signature, ask for a new nonce.",
  tag,
  auth: "public",
  signInAttempt: true,
  body: z.object({
    message: z
      .string()
      .min(1)
      .max(4096)
      .meta({ description: "The EIP-4361 message, exactly as it was signed" }),
    signature: z
      .string()
      .max(SIGNATURE_LENGTH_MAX)
      .regex(/^0x[0-9a-fA-F]+$/)
      .meta({
        description:
          "Signature over the message (EIP-191; ERC-1271 and ERC-6492 for contracts), 0x hex",
      }),
    invitation: z.string().min(1).max(INVITATION_TOKEN_LENGTH_MAX).optional().meta({
      description:
        "Token of a mailed invitation. While it can be accepted, it lets a new person sign in where sign-up is closed. It is not accepted by this: POST /invitations/accept still needs the invited address",
    }),
  }),
  status: 200,
  response: tokens,
  errors: ["invalid_signature", "nonce_expired", "sign_up_closed", "chain_unavailable"],
});

export const refreshToken = defineContract({
  method: "POST",
  path: "/auth/refresh",
  summary: "A new access token and refresh token; the old refresh token stops working",
  description:
    "Use it before the access token ends. Each refresh token works once; store the new one. For 10 s the same user agent in the same network gets the same new token again, so an answer that was lost can be asked for again. Any other second use ends the whole session, because somebody may have stolen the token.",
  tag,
  auth: "public",
  body: z.object({
    refreshToken: z
      .string()
      .min(1)
      .max(200)
      .meta({ description: "The refresh token of the newest pair" }),
  }),
  status: 200,
  response: tokens,
  errors: ["unauthorized"],
});

export const logout = defineContract({
  method: "POST",
  path: "/auth/logout",
  summary: "Ends the session of the access token",
  description:
    "The access token and its refresh token stop working. Other sessions of the person stay. Operations go on.",
  tag,
  auth: "user",
  personal: true,
  status: 200,
  response: z.object({ loggedOut: z.literal(true).meta({ description: "Always true" }) }),
});

const jsonWebKey = z
  .object({
    kty: z.literal("EC").meta({ description: "Elliptic curve" }),
    crv: z.literal("P-256").meta({ description: "The curve" }),
    x: z.string().meta({ description: "X coordinate, base64url" }),
    y: z.string().meta({ description: "Y coordinate, base64url" }),
    kid: z.string().meta({ description: "Names the key in the header of a token" }),
    alg: z.string().meta({ description: "Algorithm of the signatures, `ES256`" }),
    use: z.literal("sig").meta({ description: "The key verifies signatures" }),
  })
  .meta({ id: "JsonWebKey", description: "A public key (RFC 7517)" });

export const getJwks = defineContract({
  method: "GET",
  path: "/auth/jwks",
  summary: "Public keys of access tokens (RFC 7517)",
  description:
    "The keys with which other services can verify access tokens of this one. Cache them, and read them again when a token names an unknown `kid`.",
  tag,
  auth: "public",
  status: 200,
  response: z.object({ keys: z.array(jsonWebKey).meta({ description: "JSON Web Keys" }) }),
});

const me = z
  .object({
    id: z.string().meta({ description: "Id of the person, with the prefix usr_" }),
    address,
    name: z.string().nullable().meta({
      description: "The display name that the person chose; null where none is set",
    }),
    email: z
      .string()
      .nullable()
      .meta({ description: "E-mail address for codes and notices; null where none is set" }),
    emailVerified: z.boolean().meta({
      description:
        "Whether a mailed code has verified the address; codes go to verified addresses alone",
    }),
    emailHeldUntil: timestamp.nullable().meta({
      description:
        "Until then no code goes to the address, because it was set with a recovery code; null: codes go there",
    }),
    createdAt: timestamp.meta({ description: "When it was created" }),
    projects: z
      .array(
        z
          .object({
            id: z.string().meta({ description: "Id of the project, with the prefix prj_" }),
            name: z.string().meta({ description: "Name of the project" }),
            role: z
              .enum(["owner", "admin", "operator", "viewer"])
              .meta({ description: "Role of the person in the project" }),
            placeholder: z.boolean().meta({
              description:
                "True for the project that a sign-in with an invitation made, until it is renamed. It is listed last, so requests without `X-Project-Id` stand for the project that the person joined",
            }),
          })
          .meta({
            id: "ProfileProject",
            description: "A project, and the person's role in it",
          }),
      )
      .meta({ description: "Projects of which the person is a member" }),
  })
  .meta({ id: "Profile" });

export const sponsorBudget = z
  .object({
    chainId,
    symbol: z
      .string()
      .meta({ description: "The chain's coin, in units of which all amounts are" }),
    dailyLimit: amountOut.meta({ description: "The most that the sponsor pays per UTC day" }),
    dailyCeiling: amountOut.meta({
      description: "The highest daily limit that the project can set; the operator's",
    }),
    used: amountOut.meta({ description: "Paid for operations that were accepted today" }),
    reserved: amountOut.meta({
      description: "The most that today's operations which have not ended may still cost",
    }),
    remaining: amountOut.meta({ description: "dailyLimit less used and reserved" }),
    resetsAt: timestamp.meta({ description: "When the next UTC day begins" }),
    perOperation: amountOut.meta({ description: "The most that one operation may cost" }),
    perOperationCeiling: amountOut.meta({
      description:
        "The highest limit of one operation that the project can set; the operator's",
    }),
  })
  .meta({
    id: "SponsorBudget",
    description: "What the project's sponsor pays for network fees on a chain, on this UTC day",
  });

const gasAlert = z
  .object({
    chainId,
    account: z.enum(["executor", "paymaster"]).meta({
      description:
        "`executor` sends the service's transactions; `paymaster` sponsors the fees of smart accounts",
    }),
    balance: amountOut.meta({
      description: "What the account had at the last reading, in the chain's coin",
    }),
    since: timestamp.meta({ description: "Since when it has too little" }),
  })
  .meta({
    id: "GasAlert",
    description: "An account of the service that has little left for network fees",
  });

const signingOff = z
  .object({
    since: timestamp.meta({ description: "Since when no payment leaves" }),
    reason: z.string().meta({ description: "Why, for people" }),
  })
  .meta({ id: "SigningOff", description: "Payments are paused: the service signs nothing" });

export const whoAmI = defineContract({
  method: "GET",
  path: "/auth/whoami",
  summary:
    "Who a key or token stands for, and what it may do: tries credentials without touching anything",
  description: "Checks a key or a token without a side effect. Use it to test a configuration.",
  tag,
  auth: "member",
  status: 200,
  response: z.object({
    type: z.enum(["apiKey", "user"]).meta({ description: "Kind of the credential" }),
    id: z.string().meta({ description: "Id of the API key, or of the person" }),
    projectId: id("prj").meta({ description: "The project that the request acts for" }),
    role: z.enum(ROLES).nullable().meta({ description: "Of a person; null for an API key" }),
    scopes: z
      .array(z.string())
      .nullable()
      .meta({ description: "Of an API key; null for a person" }),
  }),
});

export const getMe = defineContract({
  method: "GET",
  path: "/me",
  summary: "The signed-in person, and what the project's sponsor pays for network fees today",
  description:
    "Reads the profile of the signed-in person, the projects and roles, today's budget for sponsored network fees on each chain, the chains on which the service itself has little left for fees, and whether payments are paused.",
  tag: "Profile",
  auth: "user",
  status: 200,
  response: me.extend({
    sponsorBudgets: z
      .array(sponsorBudget)
      .meta({ description: "One for each chain that has a sponsor" }),
    gasAlerts: z.array(gasAlert).meta({
      description:
        "Chains whose movements stop soon, because the service can pay no more fees; empty when all is well",
    }),
    signingOff: signingOff
      .nullable()
      .meta({ description: "Why payments are paused; null: they are not" }),
  }),
});

export const updateMe = defineContract({
  method: "PATCH",
  path: "/me",
  summary:
    "Sets the display name, or the e-mail address and mails a code to it; the address counts once the code is verified, and needs an approval (409 approval_required)",
  description:
    "Members of your projects see `name` beside your address; it needs no approval. `email` mails a code to the address. Confirm it with POST /me/email/verify; until then one-time codes go to the old address. Codes approve payments, so the first answer is 409 `approval_required`: for a first address the wallet that signs in signs `message` (or a passkey or the authenticator app approves it); a further one takes a code of the present address too. Send the same request again with `approval`. The verified address can be mailed another code without one. Members with one mailbox are one person who votes once, so an address with which too few people could vote in a project is 409 `invalid_state`.",
  tag: "Profile",
  auth: "user",
  personal: true,
  body: z
    .object({
      name: personName.nullable().optional().meta({
        description:
          "The new display name, 1–80 characters and no @; null removes it. Left out: it stays",
      }),
      email: z
        .email()
        .max(254)
        .optional()
        .meta({ description: "The new e-mail address. Left out: it stays" }),
      approval: givenApproval.optional(),
    })
    .refine(
      ({ name, email }) => name !== undefined || email !== undefined,
      "must have a name or an email",
    ),
  status: 200,
  response: me.extend({
    verification: z
      .object({
        destination: z
          .string()
          .meta({ description: "Masked address to which the code was sent" }),
        expiresAt: timestamp.meta({ description: "Until when the code can be used" }),
        resendAfter: timestamp.meta({ description: "From when another code can be asked for" }),
      })
      .nullable()
      .meta({ description: "The code that was mailed; null where no `email` was sent" }),
  }),
  errors: [...APPROVAL_ERRORS, "rate_limited", "provider_error"],
});

export const verifyEmail = defineContract({
  method: "POST",
  path: "/me/email/verify",
  summary: "Verifies the e-mail address with the mailed code",
  description:
    "Confirms the address of PATCH /me. From now on one-time codes go to it. At most five wrong codes are accepted; then ask for a new one.",
  tag: "Profile",
  auth: "user",
  personal: true,
  body: z.object({ code: otp.meta({ description: "The six digits of the mail" }) }),
  status: 200,
  response: me,
  errors: ["otp_invalid", "otp_expired", "otp_attempts_exceeded", "invalid_state"],
});
