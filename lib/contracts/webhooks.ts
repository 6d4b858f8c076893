import { z } from "zod";
import { jsonObject } from "./common";
import { BODY_BYTES_MAX, defineContract } from "./contract";

const tag = "Callbacks";

const providerEvent = jsonObject.meta({
  description:
    "The provider's event, any JSON object. It is a hint: state moves once the chain was asked",
});
/** Not checked, because the provider may add parameters to the configured URL. */
const providerQuery = z.looseObject({});
const receipt = z.object({
  received: z.literal(true).meta({ description: "Always true: the callback is stored" }),
});

export const receiveRoutingCallback = defineContract({
  method: "POST",
  path: "/webhooks/routing",
  summary:
    "Takes a routing provider's event: x-signature (the secret itself or sha256=HMAC), Standard Webhooks headers, or the provider's own signature headers (docs/webhooks.md)",
  description:
    "For the configured routing provider, not for users of the API. A callback only makes the service look at the chain or the provider earlier. A repeated callback counts once.",
  tag,
  auth: "public",
  query: providerQuery,
  body: providerEvent,
  bodyLimit: BODY_BYTES_MAX.webhook,
  status: 200,
  response: receipt,
  errors: ["invalid_signature"],
});

export const receiveBundlerCallback = defineContract({
  method: "POST",
  path: "/webhooks/bundler",
  summary:
    "Takes a bundler's event: x-signature (the secret itself or sha256=HMAC), or Standard Webhooks headers",
  description:
    "For the configured bundler, not for users of the API. A callback only makes the service look at the chain earlier. A repeated callback counts once.",
  tag,
  auth: "public",
  query: providerQuery,
  body: providerEvent,
  bodyLimit: BODY_BYTES_MAX.webhook,
  status: 200,
  response: receipt,
  errors: ["invalid_signature"],
});
