import {
  ArrowLeftRight,
  CircleHelp,
  Eye,
  type LucideIcon,
  VenetianMask,
  Wallet,
  Waves,
} from "lucide-react";
import type { ReactNode } from "react";
import { Card } from "@/components/ui/card";
import { cn } from "@/components/ui/cn";
import {
  type NodeLook,
  type Observed,
  observerScenes,
  type Scene,
  type SceneEdge,
  type SceneNode,
  type Stage,
} from "./scenes";

/** Two pictures of one move: as everybody sees it on the chain, and as its owner sees it. */
export const ObserverCard = ({ observed }: { readonly observed: Observed }): ReactNode => {
  const { chain, owner } = observerScenes(observed);
  return (
    <Card title="What an observer sees" flush>
      <div className="grid grid-cols-1 divide-y sm:grid-cols-2 sm:divide-x sm:divide-y-0">
        <View title="Public chain" scene={chain} observed={observed} />
        <View title="Your view" scene={owner} observed={observed} isOwner />
      </div>
    </Card>
  );
};

interface ViewProps {
  readonly title: string;
  readonly scene: Scene;
  readonly observed: Observed;
  readonly isOwner?: boolean;
}

const View = ({ title, scene, observed, isOwner = false }: ViewProps): ReactNode => {
  const Icon = isOwner ? VenetianMask : Eye;
  return (
    <figure className="flex min-w-0 flex-col gap-2 p-4">
      <figcaption
        className={cn(
          "flex items-center gap-1.5 text-sm font-medium",
          isOwner ? "text-private" : "text-fg-2",
        )}
      >
        <Icon className="size-4" aria-hidden /> {title}
      </figcaption>
      <div className="mx-auto w-full max-w-md">
        <SceneFigure
          scene={scene}
          stage={observed.stage}
          setSize={observed.setSize}
          showsCoin={isOwner}
        />
      </div>
      <ul aria-label={title} className="flex list-disc flex-col gap-0.5 pl-4 text-sm text-fg-2">
        {scene.points.map((point) => (
          <li key={point}>{point}</li>
        ))}
      </ul>
    </figure>
  );
};

const WIDTH = 312;
const HEIGHT = 118;
const CENTERS = [52, 156, 260] as const;
const Y = 46;
const RADIUS = 22;
/** Distance between a circle and the line that leaves it. */
const GAP = 6;
const ICON = 20;
const TITLE_Y = 90;
const DETAIL_Y = 107;
const TEXT_MAX = 16;
const DOTS_MAX = 24;

interface NodeStyle {
  readonly circle: string;
  /** Null when a crowd of dots is drawn instead. */
  readonly icon: { readonly Icon: LucideIcon; readonly looks: string } | null;
}

const NODE_STYLES: Readonly<Record<NodeLook, NodeStyle>> = {
  known: {
    circle: "fill-surface stroke-control",
    icon: { Icon: Wallet, looks: "text-fg-2" },
  },
  private: {
    circle: "fill-private-tint stroke-private",
    icon: { Icon: VenetianMask, looks: "text-private" },
  },
  crowd: { circle: "fill-surface stroke-border", icon: null },
  pool: {
    circle: "fill-sunken stroke-control",
    icon: { Icon: Waves, looks: "text-fg-2" },
  },
  exchange: {
    circle: "fill-sunken stroke-control",
    icon: { Icon: ArrowLeftRight, looks: "text-fg-2" },
  },
  unknown: {
    circle: "fill-surface stroke-control [stroke-dasharray:3_3]",
    icon: { Icon: CircleHelp, looks: "text-fg-3" },
  },
};

const EDGE_STYLES = {
  seen: { line: "stroke-fg", label: "fill-fg" },
  private: { line: "stroke-private", label: "fill-private" },
  hidden: { line: "stroke-control", label: "fill-fg-3" },
  todo: { line: "stroke-border", label: "fill-fg-3" },
} as const satisfies Record<SceneEdge["look"], object>;

const cut = (text: string): string =>
  text.length <= TEXT_MAX ? text : `${text.slice(0, TEXT_MAX - 1)}…`;

/**
 * Draws the deposits as dots. No dot is highlighted, because nobody can tell which deposit was
 * spent.
 */
const Crowd = ({ x, size }: { readonly x: number; readonly size: number }): ReactNode => {
  const count = Math.max(1, Math.min(DOTS_MAX, size));
  return Array.from({ length: count }, (_, index) => {
    // The golden angle spreads any number of dots evenly over the circle.
    const angle = index * 2.39996;
    const distance = (RADIUS - 5) * Math.sqrt((index + 0.5) / count);
    return (
      <circle
        key={index}
        cx={x + distance * Math.cos(angle)}
        cy={Y + distance * Math.sin(angle)}
        r={2.4}
        className="fill-control"
      />
    );
  });
};

interface NodeMarkProps {
  readonly node: SceneNode;
  readonly x: number;
  readonly size: number;
}

const NodeMark = ({ node, x, size }: NodeMarkProps): ReactNode => {
  const { circle, icon } = NODE_STYLES[node.look];
  return (
    <g>
      <circle cx={x} cy={Y} r={RADIUS} className={circle} strokeWidth={1.5} />
      {icon === null ? (
        <Crowd x={x} size={size} />
      ) : (
        <icon.Icon
          x={x - ICON / 2}
          y={Y - ICON / 2}
          width={ICON}
          height={ICON}
          className={icon.looks}
        />
      )}
      <text x={x} y={TITLE_Y} textAnchor="middle" className="fill-fg text-[13px] font-medium">
        {cut(node.title)}
      </text>
      <text x={x} y={DETAIL_Y} textAnchor="middle" className="fill-fg-3 text-[12px]">
        {cut(node.detail)}
      </text>
    </g>
  );
};

interface WayProps {
  readonly edge: SceneEdge;
  readonly from: number;
  readonly to: number;
}

const Way = ({ edge, from, to }: WayProps): ReactNode => {
  const start = from + RADIUS + GAP;
  const end = to - RADIUS - GAP;
  const styles = EDGE_STYLES[edge.look];
  const isSolid = edge.look === "seen" || edge.look === "private";
  const width = isSolid ? 2 : 1.5;
  return (
    <g className="transition-colors duration-150">
      <path
        d={`M${String(start)} ${String(Y)}H${String(end)}`}
        fill="none"
        strokeWidth={width}
        className={cn(styles.line, isSolid ? undefined : "[stroke-dasharray:2_4]")}
      />
      <path
        d={`M${String(end - 5)} ${String(Y - 4)}l5 4l-5 4`}
        fill="none"
        strokeWidth={width}
        className={styles.line}
      />
      <text
        x={(start + end) / 2}
        y={14}
        textAnchor="middle"
        className={cn("num text-[13px] font-medium", styles.label)}
      >
        {cut(edge.label)}
      </text>
    </g>
  );
};

/** Horizontal position of the coin that shows where the money is; null when no coin is drawn. */
const coinAt = (stage: Stage): number | null => {
  if (stage === "waiting" || stage === "proving") return CENTERS[0] + RADIUS;
  if (stage === "sent") return (CENTERS[1] + CENTERS[2]) / 2;
  if (stage === "completed") return CENTERS[2] - RADIUS;
  return null;
};

interface SceneFigureProps {
  readonly scene: Scene;
  readonly stage: Stage;
  readonly setSize: number | null;
  /** Whether to draw a coin where the money is. Only the owner knows where the money is. */
  readonly showsCoin: boolean;
}

/**
 * Draws one view. The list beside it has the same content in sentences, so screen readers skip the
 * picture.
 */
const SceneFigure = ({ scene, stage, setSize, showsCoin }: SceneFigureProps): ReactNode => {
  const [first, second] = scene.edges;
  const coin = showsCoin ? coinAt(stage) : null;
  return (
    <svg
      viewBox={`0 0 ${String(WIDTH)} ${String(HEIGHT)}`}
      className="h-auto w-full"
      aria-hidden
      focusable="false"
    >
      <Way edge={first} from={CENTERS[0]} to={CENTERS[1]} />
      {second === null ? null : <Way edge={second} from={CENTERS[1]} to={CENTERS[2]} />}
      {scene.nodes.map((node, index) =>
        node === null ? null : (
          <NodeMark
            key={index}
            node={node}
            x={CENTERS[index] ?? 0}
            size={setSize ?? DOTS_MAX}
          />
        ),
      )}
      {coin === null ? null : (
        <circle
          r={6}
          cy={Y}
          className="fill-private stroke-surface transition-transform duration-150"
          strokeWidth={2}
          style={{ transform: `translateX(${String(coin)}px)` }}
        />
      )}
    </svg>
  );
};
