import type { Metadata } from "next";
import type { ReactNode } from "react";
import { Activity } from "@/components/features/operations/activity";

export const metadata: Metadata = { title: "Activity" };

const Page = (): ReactNode => <Activity />;

export default Page;
