import { z } from "zod";

const LENGTH_MAX = 8192;

export const base64url = z
  .string()
  .min(1)
  .max(LENGTH_MAX)
  .regex(/^[A-Za-z0-9_-]+$/, "must be base64url")
  .meta({ id: "Base64Url", description: "Bytes in base64url without padding (RFC 4648, 5)", examples: ["AQIDBA"] });

/** The result of `navigator.credentials.get`. */
export const passkeyAssertion = z
  .object({
    id: base64url.meta({ description: "Id of the credential" }),
    rawId: base64url.meta({ description: "The same id" }),
    type: z.literal("public-key").meta({ description: "Always `public-key`" }),
    response: z
      .object({
        clientDataJSON: base64url.meta({ description: "What the browser signed for: type, challenge and origin" }),
        authenticatorData: base64url.meta({ description: "Flags and counter of the authenticator" }),
        signature: base64url.meta({ description: "Signature of the passkey" }),
        userHandle: base64url.optional().meta({ description: "Id of the person, as the passkey keeps it" }),
      })
      .meta({ description: "AuthenticatorAssertionResponse as JSON, base64url" }),
  })
  .meta({ id: "PasskeyAssertion", description: "AuthenticationResponseJSON (WebAuthn Level 3)" });

export type PasskeyAssertion = z.output<typeof passkeyAssertion>;

/** Options for `navigator.credentials.get`. */
export const passkeyRequest = z
  .object({
    challenge: base64url.meta({ description: "Good once; for an approval the digest of what it approves comes first" }),
    rpId: z.string().meta({ description: "Domain of the service (PUBLIC_URL)" }),
    allowCredentials: z
      .array(
        z.object({
          id: base64url.meta({ description: "Id of the credential" }),
          type: z.literal("public-key").meta({ description: "Always `public-key`" }),
          transports: z.array(z.string()).meta({ description: "How the browser reaches it" }),
        }),
      )
      .meta({ description: "The person's passkeys; empty for a sign-in, where the passkey says who it is" }),
    userVerification: z.literal("required").meta({ description: "The device asks for its PIN or a fingerprint" }),
    timeout: z.int().meta({ description: "Milliseconds for which the challenge is good" }),
  })
  .meta({ id: "PasskeyRequest", description: "PublicKeyCredentialRequestOptions as JSON (WebAuthn Level 3)" });

export type PasskeyRequest = z.output<typeof passkeyRequest>;
