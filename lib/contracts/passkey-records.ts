import { z } from "zod";
import { jsonObject } from "./common";

const LENGTH_MAX = 8192;

export const base64url = z
  .string()
  .min(1)
  .max(LENGTH_MAX)
  .regex(/^[A-Za-z0-9_-]+$/, "must be base64url")
  .meta({
    id: "Base64Url",
    description: "Bytes in base64url without padding (RFC 4648, 5)",
    examples: ["AQIDBA"],
  });

/**
 * The result of `navigator.credentials.get`. Unknown fields are accepted, because browsers add
 * unused ones.
 */
export const passkeyAssertion = z
  .looseObject({
    id: base64url.meta({ description: "Id of the credential" }),
    rawId: base64url.meta({ description: "The same id" }),
    type: z.literal("public-key").meta({ description: "Always `public-key`" }),
    response: z
      .looseObject({
        clientDataJSON: base64url.meta({
          description: "What the browser signed for: type, challenge and origin",
        }),
        authenticatorData: base64url.meta({
          description: "Flags and counter of the authenticator",
        }),
        signature: base64url.meta({ description: "Signature of the passkey" }),
        userHandle: base64url
          .optional()
          .meta({ description: "Id of the person, as the passkey keeps it" }),
      })
      .meta({ description: "AuthenticatorAssertionResponse as JSON, base64url" }),
  })
  .meta({
    id: "PasskeyAssertion",
    description: "AuthenticationResponseJSON (WebAuthn Level 3)",
  });

export type PasskeyAssertion = z.output<typeof passkeyAssertion>;

const publicKey = z.literal("public-key").meta({ description: "Always `public-key`" });

const TRANSPORTS = ["ble", "cable", "hybrid", "internal", "nfc", "smart-card", "usb"] as const;
export type Transport = (typeof TRANSPORTS)[number];

/**
 * Whether the transport is one of `TRANSPORTS`. Browsers may report others, and WebAuthn requires
 * that these are ignored.
 */
export const isTransport = (name: string): name is Transport =>
  (TRANSPORTS as readonly string[]).includes(name);

const knownCredential = z
  .object({
    id: base64url.meta({ description: "Id of the credential" }),
    type: publicKey,
    transports: z.array(z.enum(TRANSPORTS)).meta({ description: "How the browser reaches it" }),
  })
  .meta({
    id: "KnownCredential",
    description: "PublicKeyCredentialDescriptor as JSON (WebAuthn Level 3)",
  });

export const passkeyRequest = z
  .object({
    challenge: base64url.meta({
      description: "Good once; for an approval the digest of what it approves comes first",
    }),
    rpId: z.string().meta({ description: "Domain of the service (PUBLIC_URL)" }),
    allowCredentials: z.array(knownCredential).meta({
      description:
        "The person's passkeys; empty for a sign-in, where the passkey says who it is",
    }),
    userVerification: z
      .literal("required")
      .meta({ description: "The device asks for its PIN or a fingerprint" }),
    timeout: z.int().meta({ description: "Milliseconds for which the challenge is good" }),
  })
  .meta({
    id: "PasskeyRequest",
    description: "PublicKeyCredentialRequestOptions as JSON (WebAuthn Level 3)",
  });

export type PasskeyRequest = z.output<typeof passkeyRequest>;

export const passkeyCreation = z
  .object({
    challenge: base64url.meta({ description: "Good once" }),
    rp: z
      .object({
        id: z.string().meta({ description: "Domain of the service (PUBLIC_URL)" }),
        name: z.string().meta({ description: "Name of the service" }),
      })
      .meta({ description: "For whom the passkey is made" }),
    user: z
      .object({
        id: base64url.meta({ description: "Id of the person, as the passkey keeps it" }),
        name: z.string().meta({ description: "Address that the person signs in with" }),
        displayName: z.string().meta({ description: "Empty: the address is name enough" }),
      })
      .meta({ description: "Whose passkey it is" }),
    pubKeyCredParams: z
      .array(
        z.object({
          type: publicKey,
          alg: z.int().meta({ description: "COSE algorithm, such as -7 for ES256" }),
        }),
      )
      .meta({ description: "Kinds of keys that are accepted, the best first" }),
    timeout: z.int().meta({ description: "Milliseconds for which the challenge is good" }),
    attestation: z
      .literal("none")
      .meta({ description: "The maker of the device stays unknown" }),
    excludeCredentials: z.array(knownCredential).meta({
      description: "Passkeys that the person has: a device that holds one makes no second one",
    }),
    authenticatorSelection: z
      .object({
        residentKey: z
          .literal("required")
          .meta({ description: "The device can find the passkey by itself" }),
        requireResidentKey: z
          .literal(true)
          .meta({ description: "The same, for older browsers" }),
        userVerification: z
          .literal("required")
          .meta({ description: "The device asks for its PIN or a fingerprint" }),
      })
      .meta({ description: "What the device must be able to do" }),
    extensions: jsonObject.meta({ description: "Extensions of WebAuthn that are asked for" }),
    hints: z
      .array(z.enum(["security-key", "client-device", "hybrid"]))
      .meta({ description: "Kinds of devices that the browser should offer first" }),
  })
  .meta({
    id: "PasskeyCreation",
    description: "PublicKeyCredentialCreationOptions as JSON (WebAuthn Level 3)",
  });

export type PasskeyCreation = z.output<typeof passkeyCreation>;
