// The mutex of etcd's own Go client: acquires and releases distinct resources with a given number
// in flight, like lock_client; or takes turns on one resource with other processes, like
// turn_client. Prints the figures as one line of JSON.
//
// Settings: one client and one session, which all goroutines share.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"sort"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"go.etcd.io/etcd/clientv3"
	"go.etcd.io/etcd/clientv3/concurrency"
)

type figures map[string]interface{}

func cpuSeconds() float64 {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
}

func lockAndUnlock(mutex *concurrency.Mutex, inside func()) error {
	if err := mutex.Lock(context.Background()); err != nil {
		return err
	}
	inside()
	return mutex.Unlock(context.Background())
}

// The load of many goroutines.
type load struct {
	session            *concurrency.Session
	latency            bool
	counting, stopping int32 // atomic
	mutex              sync.Mutex
	locks              int
	acquire, cycle     []float64 // in microseconds
	failure            error
}

func (l *load) work(name string) {
	mutex := concurrency.NewMutex(l.session, name)
	var acquire, cycle []float64
	var failure error
	locks := 0
	for failure == nil && atomic.LoadInt32(&l.stopping) == 0 {
		asked := time.Now()
		acquired := asked
		failure = lockAndUnlock(mutex, func() { acquired = time.Now() })
		if atomic.LoadInt32(&l.counting) == 0 {
			continue
		}
		locks++
		if l.latency {
			acquire = append(acquire, float64(acquired.Sub(asked).Nanoseconds())/1e3)
			cycle = append(cycle, float64(time.Since(asked).Nanoseconds())/1e3)
		}
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.locks += locks
	l.acquire = append(l.acquire, acquire...)
	l.cycle = append(l.cycle, cycle...)
	if failure != nil {
		l.failure = failure
	}
}

func addQuantiles(all figures, name string, values []float64) {
	if len(values) == 0 {
		return
	}
	sort.Float64s(values)
	for suffix, part := range map[string]float64{"p50": 0.5, "p99": 0.99, "max": 1} {
		all[name+"_"+suffix] = values[int(part*float64(len(values)-1))]
	}
}

func (l *load) run(concurrency int, warmUp, length time.Duration) (figures, error) {
	var workers sync.WaitGroup
	for i := 0; i < concurrency; i++ {
		workers.Add(1)
		go func(i int) {
			defer workers.Done()
			l.work(fmt.Sprintf("bench:%d", i))
		}(i)
	}
	time.Sleep(warmUp)
	cpu, begin := cpuSeconds(), time.Now()
	atomic.StoreInt32(&l.counting, 1)
	time.Sleep(length)
	atomic.StoreInt32(&l.counting, 0)
	cpu, seconds := cpuSeconds()-cpu, time.Since(begin).Seconds()
	atomic.StoreInt32(&l.stopping, 1)
	workers.Wait()
	all := figures{"locks": l.locks, "seconds": seconds, "cpu_seconds": cpu}
	addQuantiles(all, "acquire_us", l.acquire)
	addQuantiles(all, "cycle_us", l.cycle)
	return all, l.failure
}

func takeTurns(session *concurrency.Session, name string, beginMs int64,
	length, hold time.Duration) (figures, error) {
	own := concurrency.NewMutex(session, fmt.Sprintf("%s:%d", name, os.Getpid()))
	if err := lockAndUnlock(own, func() {}); err != nil {
		return nil, err
	}
	begin := time.Unix(beginMs/1000, beginMs%1000*1e6)
	if time.Now().After(begin) {
		return nil, errors.New("was connected only after --begin")
	}
	time.Sleep(time.Until(begin))
	cpu := cpuSeconds()
	holds := [][2]int64{}
	mutex := concurrency.NewMutex(session, name)
	for end := begin.Add(length); time.Now().Before(end); {
		err := lockAndUnlock(mutex, func() {
			from := time.Now().UnixNano()
			time.Sleep(hold)
			holds = append(holds, [2]int64{from, time.Now().UnixNano()})
		})
		if err != nil {
			return nil, err
		}
	}
	return figures{"cpu_seconds": cpuSeconds() - cpu, "holds": holds}, nil
}

func run() (figures, error) {
	node := flag.String("node", "", "the URL of a member")
	inFlight := flag.Int("concurrency", 256, "locks in flight")
	length := flag.Int("length", 1000, "milliseconds that are measured")
	warmUp := flag.Int("warm-up", 200, "milliseconds before the measurement")
	latency := flag.Bool("latency", false, "measure the latency of each lock")
	turns := flag.Bool("turns", false, "take turns on one resource")
	resource := flag.String("resource", "bench:turns", "with --turns: which all processes want")
	hold := flag.Int("hold", 0, "with --turns: microseconds for which each lock is held at least")
	begin := flag.Int64("begin", 0, "with --turns: when all begin, in milliseconds since 1970")
	flag.Parse()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{*node}})
	if err != nil {
		return nil, err
	}
	defer client.Close()
	session, err := concurrency.NewSession(client)
	if err != nil {
		return nil, err
	}
	defer session.Close()
	duration := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	if *turns {
		held := time.Duration(*hold) * time.Microsecond
		return takeTurns(session, *resource, *begin, duration(*length), held)
	}
	all := load{session: session, latency: *latency}
	return all.run(*inFlight, duration(*warmUp), duration(*length))
}

func main() {
	all, err := run()
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(all)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "etcd_mutex:", err)
		os.Exit(2)
	}
}
