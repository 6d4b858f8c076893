"use client";

import { useQueryClient } from "@tanstack/react-query";
import Link from "next/link";
import type { ReactNode } from "react";
import { toast } from "@/components/ui/toast";
import { queryKeyOf } from "@/components/features/session/query-key";
import { useApiMutation, useApiQuery } from "@/components/features/session/use-api";
import { shorten } from "@/components/ui/address";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { describeError } from "@/components/ui/describe-error";
import { EmptyState } from "@/components/ui/empty-state";
import { ErrorState } from "@/components/ui/error-state";
import { LoadingRows } from "@/components/ui/skeleton";
import { Time } from "@/components/ui/time";
import type { ResponseOf } from "@/lib/contracts/contract";
import { listParkedJobs, resumeJob } from "@/lib/api-client/calls.gen";

type ParkedJob = ResponseOf<typeof listParkedJobs>["data"][number];

const REFRESH_MS = 30_000;
const ID_HEAD = 8;

/** Operations and payouts that failed so often that the service stopped trying, each with a button to try again. */
export const ParkedJobsCard = (): ReactNode => {
  const { data, error, isPending, refetch } = useApiQuery(listParkedJobs, {}, { refetchIntervalMs: REFRESH_MS });
  return (
    <Card
      id="stopped-work"
      title="Stopped work"
      description="Operations and payouts that failed 50 times in a row. Their money stays where their page says until they go on."
      flush
    >
      {isPending ? (
        <LoadingRows what="stopped work" rows={1} />
      ) : data === undefined ? (
        <ErrorState compact error={error} onRetry={() => void refetch()} />
      ) : data.data.length === 0 ? (
        <EmptyState title="Nothing is stopped">The service tries everything again by itself.</EmptyState>
      ) : (
        <ul className="divide-y" aria-label="Stopped work">
          {data.data.map((job) => (
            <JobLine key={job.id} job={job} />
          ))}
        </ul>
      )}
    </Card>
  );
};

const JobLine = ({ job }: { readonly job: ParkedJob }): ReactNode => {
  const queryClient = useQueryClient();
  const resume = useApiMutation(resumeJob);
  const again = async (): Promise<void> => {
    await resume.mutateAsync({ params: { id: job.id } });
    toast.success("It continues within seconds.");
    await queryClient.invalidateQueries({ queryKey: queryKeyOf(listParkedJobs) });
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
        <p className="text-sm break-words text-fg-2">{job.lastError ?? "The reason is not known."}</p>
      </div>
      <Button
        size="sm"
        loading={resume.isPending}
        onClick={() => void again().catch((reason: unknown) => toast.error(describeError(reason).message))}
      >
        Try again
      </Button>
    </li>
  );
};
