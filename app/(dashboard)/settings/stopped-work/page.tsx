import type { Metadata } from "next";
import type { ReactNode } from "react";
import { StoppedWork } from "@/components/features/profile/sections";

export const metadata: Metadata = { title: "Stopped work" };

const Page = (): ReactNode => <StoppedWork />;

export default Page;
