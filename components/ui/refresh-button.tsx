"use client";

import { RotateCw } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "./button";
import { useHydrated } from "./use-hydrated";

interface RefreshButtonProps {
  /** As `useQuery` says. It may be true before the page is hydrated: the stream of changes can outdate an answer that the server sent. */
  readonly isFetching: boolean;
  readonly onRefresh: () => void;
}

/** Reads the data of a page again; shows a spinner while that goes on. */
export const RefreshButton = ({ isFetching, onRefresh }: RefreshButtonProps): ReactNode => {
  const isHydrated = useHydrated();
  const isLoading = isHydrated && isFetching;
  return (
    <Button loading={isLoading} onClick={onRefresh}>
      {isLoading ? null : <RotateCw aria-hidden />} Refresh
    </Button>
  );
};
