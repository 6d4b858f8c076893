import type { createPushSubscription } from "@/lib/contracts/push";
import type { BodyInput } from "@/lib/contracts/contract";

/**
 * Thrown when this browser cannot be subscribed to push messages, because the permission is missing
 * or the push service does not answer. People see the message.
 */
class PushRefusedError extends Error {
  override readonly name = "PushRefusedError";
}

export const isPushPossible = (): boolean =>
  "serviceWorker" in navigator && "PushManager" in window && "Notification" in window;

/**
 * Asks the person for the permission, and subscribes this browser. Call it from a click.
 * @param publicKey the service's key, base64url
 * @throws PushRefusedError with a text for people
 */
export const startBrowserPush = async (
  publicKey: string,
): Promise<BodyInput<typeof createPushSubscription>> => {
  const permission = await Notification.requestPermission();
  if (permission !== "granted")
    throw new PushRefusedError(
      "The browser does not allow notifications from this site. Allow them in the browser's settings of this site, then try again.",
    );
  const { pushManager } = await navigator.serviceWorker.ready;
  // Removes the browser's earlier subscription, which cannot be used when the service's key has
  // changed.
  await (await pushManager.getSubscription())?.unsubscribe();
  const subscription = await pushManager
    .subscribe({ userVisibleOnly: true, applicationServerKey: publicKey })
    .catch(() => {
      throw new PushRefusedError(
        "The browser could not reach its push service. Try again later.",
      );
    });
  const { endpoint, keys } = subscription.toJSON();
  return {
    endpoint: endpoint ?? "",
    keys: { p256dh: keys?.p256dh ?? "", auth: keys?.auth ?? "" },
  };
};

/** Removes this browser's subscription, if any. */
export const endBrowserPush = async (): Promise<void> => {
  if (!isPushPossible()) return;
  const registration = await navigator.serviceWorker.getRegistration();
  await (await registration?.pushManager.getSubscription())?.unsubscribe();
};
