"use client";

import Link from "next/link";
import type { ReactNode } from "react";
import { useQuery } from "@tanstack/react-query";
import { apiQuery } from "@/components/features/session/api-query";
import { useApiMutation, useCache } from "@/components/features/session/use-api";
import { shorten } from "@/components/ui/address";
import { Button } from "@/components/ui/button";
import { describeError } from "@/components/ui/describe-error";
import { EmptyState, QueryCard } from "@/components/ui/states";
import { Time } from "@/components/ui/time";
import { toast } from "@/components/ui/toast";
import { listParkedJobs, resumeJob } from "@/lib/api-client/calls.gen";
import type { ResponseOf } from "@/lib/contracts/contract";

type ParkedJob = ResponseOf<typeof listParkedJobs>["data"][number];

const REFRESH_MS = 30_000;
const ID_HEAD = 8;

/**
 * Operations and payouts that the service stopped trying after repeated failures, each with a
 * button to retry.
 */
export const ParkedJobsCard = (): ReactNode => {
  const query = useQuery({ ...apiQuery(listParkedJobs, {}), refetchInterval: REFRESH_MS });
  return (
    <QueryCard
      id="stopped-work"
      title="Stopped work"
      description="Operations and payouts that failed 50 times in a row. Their money stays where their page says until they go on."
      query={query}
      what="stopped work"
      rows={1}
      compact
      empty={
        <EmptyState title="Nothing is stopped">
          The service tries everything again by itself.
        </EmptyState>
      }
    >
      {(data) => (
        <ul className="divide-y" aria-label="Stopped work">
          {data.data.map((job) => (
            <JobLine key={job.id} job={job} />
          ))}
        </ul>
      )}
    </QueryCard>
  );
};

const JobLine = ({ job }: { readonly job: ParkedJob }): ReactNode => {
  const cache = useCache();
  const resume = useApiMutation(resumeJob);
  const again = async (): Promise<void> => {
    await resume.mutateAsync({ params: { id: job.id } });
    toast.success("It continues within seconds.");
    await cache.refresh(listParkedJobs);
  };
  const page = job.kind === "payout" ? `/payouts/${job.id}` : `/activity/${job.id}`;
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2">
      <div className="min-w-0 flex-1">
        <p>
          <span className="inline-block font-medium first-letter:uppercase">{job.kind}</span>{" "}
          <Link href={page} className="link font-mono text-sm">
            {shorten(job.id, ID_HEAD)}
          </Link>{" "}
          <span className="text-sm text-fg-3">
            stopped <Time value={job.parkedAt} />
          </span>
        </p>
        <p className="text-sm break-words text-fg-2">
          {job.lastError ?? "The reason is not known."}
        </p>
      </div>
      <Button
        size="sm"
        loading={resume.isPending}
        onClick={() =>
          void again().catch((reason: unknown) => toast.error(describeError(reason).message))
        }
      >
        Try again
      </Button>
    </li>
  );
};
