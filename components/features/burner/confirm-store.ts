/** A request to sign or send with the burner wallet, described for the person. */
export interface BurnerRequest {
  readonly title: string;
  /** The account that signs. */
  readonly account: string;
  readonly chainId: number | null;
  /** The readable form of everything that would be signed. */
  readonly text: string;
}

interface Pending extends BurnerRequest {
  readonly answer: (agreed: boolean) => void;
}

let queue: readonly Pending[] = [];
const listeners = new Set<() => void>();

const change = (next: readonly Pending[]): void => {
  queue = next;
  for (const listener of listeners) listener();
};

/** Resolves with the person's answer; requests are shown one after the other. */
export const askPerson = (request: BurnerRequest): Promise<boolean> =>
  new Promise((resolve) => {
    const pending: Pending = {
      ...request,
      answer: (agreed) => {
        change(queue.filter((other) => other !== pending));
        resolve(agreed);
      },
    };
    change([...queue, pending]);
  });

export const subscribeToRequests = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** The request to show now. */
export const currentRequest = (): Pending | null => queue[0] ?? null;
