"use client";

import { type ReactNode, useState } from "react";
import { useQuery } from "@tanstack/react-query";
import { apiQuery } from "@/components/features/session/api-query";
import { useApi, useCache } from "@/components/features/session/use-api";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { ActionError, QueryCard } from "@/components/ui/states";
import { useHydrated } from "@/components/ui/use-hydrated";
import {
  createPushSubscription,
  deletePushSubscription,
  listPushSubscriptions,
} from "@/lib/api-client/calls.gen";
import type { ResponseOf } from "@/lib/contracts/contract";
import { endBrowserPush, isPushPossible, startBrowserPush } from "./browser-push";

type Subscriptions = ResponseOf<typeof listPushSubscriptions>;

const pushQuery = apiQuery(listPushSubscriptions, {});

/** Turns push messages on and off in this browser. The browser is asked only after the click. */
export const PushCard = (): ReactNode => {
  const query = useQuery(pushQuery);
  return (
    <QueryCard
      id="push"
      title="Push to this browser"
      description="A message on this device when something waits for you, without amounts. It ends when you sign out here."
      query={query}
      what="the state of push in this browser"
      rows={2}
      compact
    >
      {(data) => <PushSwitch subscriptions={data} />}
    </QueryCard>
  );
};

const PushSwitch = ({
  subscriptions,
}: {
  readonly subscriptions: Subscriptions;
}): ReactNode => {
  const api = useApi();
  const cache = useCache();
  const isHydrated = useHydrated();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const { publicKey, data } = subscriptions;
  const current = data.find((one) => one.current);
  if (publicKey === null)
    return (
      <p className="p-4 text-fg-2">
        This service sends no push messages. Whoever runs it can turn them on.
      </p>
    );
  if (isHydrated && !isPushPossible())
    return (
      <p className="p-4 text-fg-2">
        This browser takes no push messages. On an iPhone, add Causeway to the home screen
        first.
      </p>
    );
  const run = async (work: () => Promise<void>): Promise<void> => {
    setBusy(true);
    setError(null);
    try {
      await work();
    } catch (failure) {
      setError(failure);
    }
    await cache.refresh(pushQuery);
    setBusy(false);
  };
  const turnOn = async (): Promise<void> => {
    const body = await startBrowserPush(publicKey);
    await api.call(createPushSubscription, { body });
  };
  const turnOff = async (): Promise<void> => {
    if (current !== undefined)
      await api.call(deletePushSubscription, { params: { id: current.id } });
    await endBrowserPush();
  };
  return (
    <div className="flex flex-col gap-3 p-4">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <p role="status">
          {current === undefined
            ? "Off in this browser."
            : "On in this browser. The kinds above that say Push are sent here."}
        </p>
        <Button
          loading={busy}
          onClick={() => void run(current === undefined ? turnOn : turnOff)}
        >
          {current === undefined ? "Turn on" : "Turn off"}
        </Button>
      </div>
      {error instanceof Error && error.name === "PushRefusedError" ? (
        <Alert tone="warning">{error.message}</Alert>
      ) : (
        <ActionError error={error} money="Nothing was changed." />
      )}
    </div>
  );
};
