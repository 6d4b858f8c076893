import type { DueDelivery } from "./due-delivery-repository";

/**
 * The deliveries that one worker has read for one endpoint. Requests of one object follow each other, so an object whose delivery is
 * under way, or has failed and is not stored yet, keeps its later deliveries waiting.
 */
export interface DeliveryQueue {
  /** Ids of deliveries that were read and whose outcome is not stored yet. */
  readonly underWay: ReadonlySet<string>;
  /** Number of deliveries that wait for their request. */
  size(): number;
  add(deliveries: readonly DueDelivery[]): void;
  /** The next delivery whose object is free, which it makes busy; undefined when none can start. */
  take(): DueDelivery | undefined;
  /** The outcome of a delivery is stored, or the delivery is given up. */
  forget(id: string): void;
  /** Later deliveries of the object may start. */
  free(objectId: string): void;
  /** Frees the object and gives up its waiting deliveries: they are read again once they are due. */
  release(objectId: string): void;
  /** Gives up every waiting delivery. */
  clear(): void;
}

export const createDeliveryQueue = (): DeliveryQueue => {
  const underWay = new Set<string>();
  const busyObjects = new Set<string>();
  let waiting: DueDelivery[] = [];

  const drop = (isDropped: (delivery: DueDelivery) => boolean): void => {
    for (const delivery of waiting) if (isDropped(delivery)) underWay.delete(delivery.id);
    waiting = waiting.filter(({ id }) => underWay.has(id));
  };

  return {
    underWay,
    size: () => waiting.length,
    add: (deliveries) => {
      for (const { id } of deliveries) underWay.add(id);
      waiting.push(...deliveries);
    },
    take: () => {
      const place = waiting.findIndex(({ objectId }) => !busyObjects.has(objectId));
      const [delivery] = place === -1 ? [] : waiting.splice(place, 1);
      if (delivery !== undefined) busyObjects.add(delivery.objectId);
      return delivery;
    },
    forget: (id) => void underWay.delete(id),
    free: (objectId) => void busyObjects.delete(objectId),
    release: (objectId) => {
      busyObjects.delete(objectId);
      drop((delivery) => delivery.objectId === objectId);
    },
    clear: () => drop(() => true),
  };
};
