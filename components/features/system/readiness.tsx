"use client";

import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import Link from "next/link";
import { type ReactNode, useContext } from "react";
import { LiveStateContext, type LiveState } from "@/components/features/live/live-state";
import { useMe } from "@/components/features/profile/use-me";
import { queryKeyOf } from "@/components/features/session/api-query";
import { usePublicConfig } from "@/components/providers/public-config";
import { cn } from "@/components/ui/cn";
import { useOnline } from "@/components/ui/use-online";
import { getReadiness } from "@/lib/api-client/calls.gen";
import type { ResponseOf } from "@/lib/contracts/contract";

interface HealthFacts {
  readonly online: boolean;
  readonly live: LiveState;
  readonly readiness: "unknown" | "silent" | Readiness["status"];
  readonly signingOff: boolean;
  readonly down: readonly string[];
}

interface HealthView {
  readonly dot: string;
  readonly text: string;
}

/**
 * The state of the service as this browser sees it. When the device is offline, the text says only
 * that, because the newest answer of the service is then out of date.
 */
export const healthView = (facts: HealthFacts): HealthView => {
  const { online, live, readiness, signingOff, down } = facts;
  if (!online) return { dot: "bg-danger", text: "This device is offline" };
  if (readiness === "unknown") return { dot: "bg-control", text: "Checking …" };
  if (readiness === "silent") return { dot: "bg-danger", text: "The service does not answer" };
  if (signingOff) return { dot: "bg-danger", text: "Payments are paused" };
  if (down.length > 0) return { dot: "bg-warning", text: `Not working: ${down.join(", ")}` };
  if (readiness === "unavailable")
    return { dot: "bg-warning", text: "A part of the service does not work" };
  if (live === "down") return { dot: "bg-warning", text: "No live updates; trying again" };
  return { dot: "bg-success", text: "All systems operational" };
};

const readinessOf = ({
  data,
  isError,
}: Pick<UseQueryResult<Readiness>, "data" | "isError">): HealthFacts["readiness"] => {
  if (isError) return "silent";
  return data?.status ?? "unknown";
};

export const NetworkHealth = (): ReactNode => {
  const partName = usePartName();
  const query = useReadiness();
  const broken =
    query.data?.parts?.filter((part) => !part.ok && part.name !== SIGNING_PART) ?? [];
  const view = healthView({
    online: useOnline(),
    live: useContext(LiveStateContext),
    readiness: readinessOf(query),
    signingOff: (useMe().data?.signingOff ?? null) !== null,
    down: broken.map((part) => partName(part.name)),
  });
  return (
    <Link
      href="/#running"
      className="flex min-h-8 items-center gap-2 rounded-control px-2.5 text-sm text-fg-2 hover:bg-sunken"
    >
      <span className={cn("size-2 shrink-0 rounded-full", view.dot)} aria-hidden />
      <span className="min-w-0 break-words">{view.text}</span>
    </Link>
  );
};

export type Readiness = ResponseOf<typeof getReadiness>;

const STATES: readonly Readiness["status"][] = ["ready", "unavailable"];
const REFRESH_MS = 15_000;
const TIMEOUT_MS = 10_000;

// Checks that the body is the service's answer, because a proxy may also answer 503 with another
// body.
const isReadiness = (body: unknown): body is Readiness =>
  typeof body === "object" &&
  body !== null &&
  "status" in body &&
  STATES.some((state) => state === body.status);

// The API client cannot be used, because it throws at 503. The body of a 503 has the same form as
// the body of a 200, and says which parts do not work.
const fetchReadiness = async (signal: AbortSignal): Promise<Readiness> => {
  const response = await fetch(`/api${getReadiness.path}`, {
    signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
  });
  const body: unknown = await response.json().catch(() => null);
  if (!isReadiness(body))
    throw new Error(
      `The service answered ${String(response.status)} without saying whether it is ready.`,
    );
  return body;
};

/**
 * Name of the part that says whether payments are signed. Lists of parts that do not work leave it
 * out, because `signingOff` of the profile tells everybody about it.
 */
export const SIGNING_PART = "signing";

/** `chain:31337` → the name of that chain; other parts keep their name. */
export const usePartName = (): ((part: string) => string) => {
  const { chains } = usePublicConfig();
  return (part) => chains.find((chain) => part === `chain:${String(chain.id)}`)?.name ?? part;
};

/** Whether the service is ready. Only a browser on the service's machine gets the parts. */
export const useReadiness = (): UseQueryResult<Readiness> =>
  useQuery({
    queryKey: queryKeyOf(getReadiness),
    queryFn: ({ signal }) => fetchReadiness(signal),
    refetchInterval: REFRESH_MS,
  });
