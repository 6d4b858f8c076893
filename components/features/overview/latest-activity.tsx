"use client";

import { List } from "lucide-react";
import dynamic from "next/dynamic";
import Link from "next/link";
import type { ReactNode } from "react";
import { latestOperationsQuery } from "@/components/features/operations/operation";
import { useLiveQuery } from "@/components/features/session/use-api";
import { EmptyState, LoadingRows, QueryCard } from "@/components/ui/states";

/** The table is loaded only when there is something to list. */
const LatestTable = dynamic(
  () => import("./latest-table").then((module) => module.LatestTable),
  { loading: () => <LoadingRows what="activity" /> },
);

export const LatestActivity = (): ReactNode => {
  const query = useLiveQuery(latestOperationsQuery);
  return (
    <QueryCard
      title="Latest activity"
      actions={
        <Link href="/activity" className="link text-sm">
          All activity
        </Link>
      }
      query={query}
      what="activity"
      money="Operations that run go on without this page."
      empty={
        <EmptyState icon={List} title="Nothing has moved yet">
          Swaps, transfers and deposits appear here.{" "}
          <Link className="link" href="/swap">
            Make the first one
          </Link>
          .
        </EmptyState>
      }
    >
      {(data) => <LatestTable operations={data.data} />}
    </QueryCard>
  );
};
