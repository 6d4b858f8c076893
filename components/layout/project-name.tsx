"use client";

import type { ReactNode } from "react";
import { useMe } from "@/components/features/profile/use-me";
import { Skeleton } from "@/components/ui/skeleton";

export const ProjectName = (): ReactNode => {
  const { data, isPending } = useMe();
  const project = data?.projects[0];
  return (
    <div className="rounded-control border px-2.5 py-1.5">
      <p className="text-xs text-fg-3">Project</p>
      {isPending ? (
        <Skeleton className="my-0.5 w-24" />
      ) : (
        <p className="truncate font-medium">{project?.name ?? "Not available"}</p>
      )}
    </div>
  );
};
