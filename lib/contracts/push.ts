import { z } from "zod";
import { id, timestamp } from "./common";
import { defineContract } from "./contract";

const tag = "Notifications";

const ENDPOINT_MAX = 2000;
/** The browser's public key in base64url: an uncompressed point of P-256, 65 bytes. */
const P256DH = /^B[A-Za-z0-9_-]{86}$/;
/** The browser's authentication secret in base64url: 16 bytes (RFC 8291). */
const AUTH = /^[A-Za-z0-9_-]{22}$/;

const subscriptionRecord = z
  .object({
    id: id("psh").meta({ description: "Id of the subscription" }),
    host: z.string().meta({ description: "Host of the browser's push service" }),
    current: z
      .boolean()
      .meta({ description: "Whether it belongs to the session of this request" }),
    createdAt: timestamp.meta({ description: "When push was turned on there" }),
  })
  .meta({ id: "PushSubscription" });

export const listPushSubscriptions = defineContract({
  method: "GET",
  path: "/me/push-subscriptions",
  summary: "The browsers to which the signed-in person gets push messages",
  description:
    "Browsers whose session has not ended. PUT /me/notification-preferences chooses the kinds. Changes nothing.",
  tag,
  auth: "user",
  status: 200,
  response: z.object({
    publicKey: z.string().nullable().meta({
      description:
        "The key that a browser subscribes with (RFC 8292); null: this service sends no push messages",
    }),
    data: z.array(subscriptionRecord).meta({ description: "Newest last" }),
  }),
});

export const createPushSubscription = defineContract({
  method: "POST",
  path: "/me/push-subscriptions",
  summary: "Turns push messages on in this browser",
  description:
    "Takes what the browser's push manager returns. It replaces an earlier subscription of the session or of the same browser. Messages have a title and a link, without amounts, and end with the session.",
  tag,
  auth: "user",
  personal: true,
  body: z.strictObject({
    endpoint: z
      .url()
      .max(ENDPOINT_MAX)
      .meta({ description: "URL at the browser's push service" }),
    keys: z
      .strictObject({
        p256dh: z
          .string()
          .regex(P256DH, "is no public key of a browser")
          .meta({ description: "The browser's public key (P-256, base64url)" }),
        auth: z
          .string()
          .regex(AUTH, "is no secret of a browser")
          .meta({ description: "The browser's authentication secret (base64url)" }),
      })
      .meta({ description: "Keys with which messages are encrypted for the browser" }),
  }),
  status: 201,
  response: subscriptionRecord,
  errors: ["invalid_state"],
});

export const deletePushSubscription = defineContract({
  method: "DELETE",
  path: "/me/push-subscriptions/{id}",
  summary: "Turns push messages off in a browser",
  description: "Messages that wait for that browser are not sent.",
  tag,
  auth: "user",
  personal: true,
  params: z.object({ id: id("psh").meta({ description: "Id of the subscription" }) }),
  status: 200,
  response: z.object({ id: id("psh").meta({ description: "The removed subscription" }) }),
});
