import { z } from "zod";
import { APPROVAL_ERRORS, givenApproval } from "./approvals";
import { tokens } from "./auth";
import { id, timestamp } from "./common";
import { defineContract } from "./contract";
import {
  base64url,
  passkeyAssertion,
  passkeyCreation,
  passkeyRequest,
} from "./passkey-records";
import { displayName } from "./names";

const tag = "Profile";

const name = displayName(60).meta({ description: "Name of the passkey, for its owner" });

const passkey = z
  .object({
    id: id("psk").meta({ description: "Id of the passkey" }),
    name,
    synced: z
      .boolean()
      .meta({ description: "Whether it may be on several devices of the person" }),
    createdAt: timestamp.meta({ description: "When it was added" }),
    lastUsedAt: timestamp
      .nullable()
      .meta({ description: "When it last signed in or approved; null: never" }),
    heldUntil: timestamp.nullable().meta({
      description:
        "Until then it signs in and approves nothing, because it was added with a recovery code; null: it approves",
    }),
  })
  .meta({ id: "Passkey" });

const params = z.object({ id: id("psk") });

export const listPasskeys = defineContract({
  method: "GET",
  path: "/me/passkeys",
  summary: "The person's passkeys, oldest first",
  description: "A passkey signs the person in, and approves what mailed codes approve.",
  tag,
  auth: "user",
  status: 200,
  response: z.object({ data: z.array(passkey).meta({ description: "At most 20" }) }),
});

export const startPasskey = defineContract({
  method: "POST",
  path: "/me/passkeys/options",
  summary: "Options with which the browser makes a passkey; needs an approval",
  description:
    "Give `options` to navigator.credentials.create within 5 minutes, and its result to POST /me/passkeys. The first call answers 409 `approval_required`.",
  tag,
  auth: "user",
  personal: true,
  body: z.object({ name, approval: givenApproval.optional() }),
  status: 200,
  response: z.object({ options: passkeyCreation }),
  errors: [...APPROVAL_ERRORS, "invalid_state"],
});

export const addPasskey = defineContract({
  method: "POST",
  path: "/me/passkeys",
  summary: "Adds the passkey that the browser made by the options",
  description:
    "The challenge of the options is good once. From now on the passkey signs in and approves.",
  tag,
  auth: "user",
  personal: true,
  body: z.object({
    credential: z
      .looseObject({
        id: base64url,
        rawId: base64url,
        type: z.literal("public-key").meta({ description: "Always `public-key`" }),
        response: z
          .looseObject({
            clientDataJSON: base64url,
            attestationObject: base64url,
            transports: z
              .array(z.string().max(20))
              .max(10)
              .optional()
              .meta({ description: "How the browser reaches it" }),
          })
          .meta({ description: "AuthenticatorAttestationResponse as JSON, base64url" }),
      })
      .meta({ description: "RegistrationResponseJSON (WebAuthn Level 3)" }),
  }),
  status: 201,
  response: passkey,
  errors: ["invalid_signature", "invalid_state"],
});

export const renamePasskey = defineContract({
  method: "PATCH",
  path: "/me/passkeys/{id}",
  summary: "Renames a passkey",
  description: "Changes the name that its owner sees, and nothing else.",
  tag,
  auth: "user",
  personal: true,
  params,
  body: z.object({ name }),
  status: 200,
  response: passkey,
  errors: ["not_found"],
});

export const removePasskey = defineContract({
  method: "POST",
  path: "/me/passkeys/{id}/remove",
  summary: "Removes a passkey; needs an approval",
  description:
    "It neither signs in nor approves from then on. Sessions that it began go on; end them in /me/sessions.",
  tag,
  auth: "user",
  personal: true,
  params,
  body: z.object({ approval: givenApproval.optional() }),
  status: 200,
  response: z.object({ removed: z.literal(true).meta({ description: "Always true" }) }),
  errors: [...APPROVAL_ERRORS, "not_found"],
});

export const startPasskeySignIn = defineContract({
  method: "POST",
  path: "/auth/passkey/options",
  summary: "A challenge for a sign-in by passkey, good for one attempt, 5 minutes",
  description:
    "Give `options` to navigator.credentials.get, and its result to POST /auth/passkey/token. Only a person who added a passkey after a sign-in by wallet can sign in.",
  tag: "Sign-in",
  auth: "public",
  signInAttempt: true,
  status: 200,
  response: z.object({ options: passkeyRequest }),
});

export const signInByPasskey = defineContract({
  method: "POST",
  path: "/auth/passkey/token",
  summary: "A passkey's signature over the challenge for an access token",
  description:
    "The attempt uses up the challenge, also when the signature is wrong. The tokens are as of POST /auth/token.",
  tag: "Sign-in",
  auth: "public",
  signInAttempt: true,
  body: z.object({ credential: passkeyAssertion }),
  status: 200,
  response: tokens,
  errors: ["invalid_signature"],
});
