import type { Clock } from "@/lib/core/clock";
import type { Pusher } from "@/lib/money/ports/pusher";
import type { WebhookSender } from "@/lib/money/ports/webhook-sender";
import { encryptMessage } from "./message";
import { vapidAuthorization, vapidKeysOf } from "./vapid";

interface PusherDeps {
  /** Sends under the rules for webhooks, because browsers name the URL of the push service. */
  readonly sender: WebhookSender;
  /** The private key of VAPID (RFC 8292): 32 bytes, base64url. */
  readonly privateKey: string;
  readonly publicUrl: string;
  readonly clock: Clock;
}

/**
 * Push services keep a message for a day. A person whose device was off longer gets the
 * notifications from the dashboard.
 */
const TTL_SECONDS = 86_400;

/** Push messages by the standard protocol (RFC 8030, 8291 and 8292). */
export const createPusher = ({ sender, privateKey, publicUrl, clock }: PusherDeps): Pusher => {
  const keys = vapidKeysOf(privateKey);
  return {
    publicKey: keys.publicKey,
    check: (endpoint) => sender.check(endpoint),
    push: ({ endpoint, ...browser }, { title, path }, signal) =>
      sender.send({
        url: endpoint,
        headers: {
          authorization: vapidAuthorization(keys, {
            endpoint,
            subject: publicUrl,
            now: clock.now(),
          }),
          "content-encoding": "aes128gcm",
          "content-type": "application/octet-stream",
          ttl: String(TTL_SECONDS),
          urgency: "high",
        },
        body: encryptMessage(Buffer.from(JSON.stringify({ title, path })), browser),
        signal,
      }),
  };
};
